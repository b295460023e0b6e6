// Debian's Chromium for tests, measurements and screenshots.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const hasBrowser = () => existsSync(executablePath);

export const launch = () =>
  chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
