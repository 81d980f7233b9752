// How index.html of a bundle looks. Colours of the system; nothing is loaded.
export const pageStyle = `
:root { color-scheme: light dark; --line: #d8dee4; --soft: #57606a; --bad: #b3261e; --good: #1a7f37; --back: #f6f8fa }
@media (prefers-color-scheme: dark) { :root { --line: #30363d; --soft: #9198a1; --bad: #ff7b72; --good: #56d364; --back: #161b22 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1rem 0 .25rem }
header p { color: var(--soft); margin: .25rem 0 .75rem }
nav { display: flex; flex-wrap: wrap; gap: 1rem; border-bottom: 1px solid var(--line); padding-bottom: .75rem }
a:focus-visible, summary:focus-visible { outline: 2px solid currentcolor; outline-offset: 2px }
code { font: .9em ui-monospace, monospace; background: var(--back); padding: .1em .3em; border-radius: 3px }
small { color: var(--soft) }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
tbody th { font-weight: 600; overflow-wrap: anywhere }
.bad { color: var(--bad) } .good { color: var(--good) }
.reasons li { margin-bottom: .75rem }
.stages { columns: 18rem; padding-left: 1.75rem } .stages li { break-inside: avoid }
.stages .failed { color: var(--bad) } .stages .began { font-weight: 600 }
.files { columns: 22rem; list-style: none; padding-left: 1rem; overflow-wrap: anywhere }
img { max-width: 100%; height: auto }
`;
