import { mount } from "svelte";
import "./app/app.css";
import Page from "./app/Page.svelte";
import { followTheme } from "./app/theme.ts";
import { embeddedSource } from "./data/embedded.ts";
import { liveSource } from "./data/live.ts";

followTheme();
const live = document.documentElement.dataset.source === "live";
mount(Page, { target: document.getElementById("page")!, props: { source: live ? liveSource() : embeddedSource } });
