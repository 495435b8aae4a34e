// The style of the page. Sides are logical (inline-start, inline-end), so one style serves both directions.
export const STYLE = `
:root{color-scheme:light dark;--back:#f3f5f8;--card:#fff;--text:#1a1f26;--soft:#525d6a;--line:#d5dbe2;--field:#f3f5f8;--accent:#0a58a6;--on:#fff;--good:#0f6637;--bad:#a8201a}
@media(prefers-color-scheme:dark){:root{--back:#11151a;--card:#1a2027;--text:#e8ebef;--soft:#a9b3be;--line:#343d47;--field:#11151a;--accent:#85bdf7;--on:#0c1722;--good:#72d69f;--bad:#ff9d95}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Vazirmatn","Noto Sans Arabic",Tahoma,"PingFang SC","Microsoft YaHei","Noto Sans SC",sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:64rem;margin-inline:auto;padding:1rem}
header{padding-block-end:0}
main{display:grid;gap:1rem;align-items:start}
@media(min-width:52rem){main{grid-template-columns:1fr 1fr}.wide{grid-column:1/-1}}
.column{display:grid;gap:1rem;min-width:0}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0}
h2{font-size:1.1rem;margin:0 0 .5rem}
p{margin:0 0 .75rem}
nav ul,.programs{list-style:none;display:flex;flex-wrap:wrap;margin:0;padding:0}
nav ul{gap:.25rem;margin-inline-start:-.6rem}
nav a{display:inline-block;padding:.45rem .6rem;border-radius:.5rem}
nav a[aria-current]{color:var(--text);font-weight:600;text-decoration:none}
a{color:var(--accent)}
footer a{display:inline-block;padding-block:.45rem}
.soft,.who{color:var(--soft)}
.who{margin:0}
section{background:var(--card);border:1px solid var(--line);border-radius:.9rem;padding:1rem}
.state{display:inline-block;font-weight:600;border:1px solid;border-radius:2rem;padding:.1rem .8rem;margin-block-end:.5rem}
.good{color:var(--good)}
.bad{color:var(--bad)}
.alert{border-color:var(--bad);border-inline-start-width:.35rem}
.alert p:last-child,section>p:last-child{margin:0}
dl{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;text-align:end}
dd span{display:block;color:var(--soft)}
progress{appearance:none;-webkit-appearance:none;display:block;width:100%;height:.8rem;margin-block:.25rem .9rem;border:1px solid var(--soft);border-radius:1rem;background:var(--field);color:var(--accent);overflow:hidden}
progress::-webkit-progress-bar{background:var(--field)}
progress::-webkit-progress-value{background:var(--accent)}
progress::-moz-progress-bar{background:var(--accent)}
.total{font-size:1.35rem;font-weight:600;margin:0}
details{border-block-start:1px solid var(--line)}
details:last-child{border-block-end:1px solid var(--line)}
summary{padding:.65rem .25rem;cursor:pointer;font-weight:600}
details>div{padding:0 .25rem .75rem}
.programs{gap:.5rem}
.button,button{display:inline-flex;align-items:center;min-height:2.75rem;padding:.4rem 1rem;border:1px solid var(--accent);border-radius:.6rem;background:var(--accent);color:var(--on);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.words{white-space:pre-line}
button{position:relative;background:none;color:var(--accent)}
[hidden]{display:none!important}
code{display:block;direction:ltr;text-align:start;font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--field);border:1px solid var(--line);border-radius:.5rem;padding:.6rem;margin-block-end:.6rem;word-break:break-all;max-height:8.5rem;overflow:auto;-webkit-user-select:all;user-select:all}
.qr{display:block;width:100%;max-width:17rem;height:auto;margin:.6rem auto 0;border-radius:.5rem;background:#fff;forced-color-adjust:none}
.told{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media print{button,nav,.programs{display:none}}
`;
