// `fragments: "tree"` builds elements one by one; without it Svelte would use innerHTML, which the page's policy refuses.
export const compilerOptions = { runes: true, fragments: "tree" };

export default { compilerOptions };
