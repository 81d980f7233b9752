// index.html of a bundle: what failed first, machines, stages, time, and every file. One file without scripts, fonts or
// network; for light and dark; all of it is reached by Tab and headings.
import { commandText } from '../../diagnose/diagnosis-lines.ts';
import { waterfallPicture } from '../cluster-wide/collectors/timeline.ts';
import type { BundleService, BundleSummary, SummarizedMachine } from '../summarize-bundle.ts';
import { fileLink, type Html, html } from './html.ts';
import { pageStyle } from './page-style.ts';

type BundleText = ReadonlyMap<string, string>;

export function bundlePage(summary: BundleSummary, files: BundleText): string {
  const { about } = summary;
  const title = `${about?.cluster ?? 'a cluster'} · log bundle ${about?.id ?? ''}`;
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${title}</title>
<style>${{ markup: pageStyle }}</style>
<body>
<header>
<h1>${about?.cluster ?? 'a cluster'}</h1>
<p>${about?.madeAt ?? ''} · <code>${about?.command ?? ''}</code> · firstlight ${about?.version ?? ''} · platform ${about?.platform ?? ''} · ${about?.infraId ?? ''}</p>
<nav>${sections.map(({ id, name }) => html`<a href="#${id}">${name}</a> `)}</nav>
</header>
<main>
${sections.map(({ id, name, content }) => html`<section id="${id}"><h2>${name}</h2>${content(summary, files)}</section>\n`)}
</main>
</body>
</html>
`;
  return page.markup;
}

interface PageSection {
  readonly id: string;
  readonly name: string;
  readonly content: (summary: BundleSummary, files: BundleText) => Html;
}

const sections: readonly PageSection[] = [
  { id: 'first', name: 'What failed first', content: whatFailed },
  { id: 'machines', name: 'Machines', content: ({ machines }, files) => machineTable(machines, files) },
  { id: 'stages', name: 'Stages', content: ({ services }) => stagesOf(services) },
  { id: 'time', name: 'Time', content: (_summary, files) => timeOf(files) },
  { id: 'missed', name: 'Not taken', content: notTaken },
  { id: 'files', name: 'Files', content: (_summary, files) => fileList(files) },
];

function whatFailed({ about, diagnosis, services, machines }: BundleSummary): Html {
  const failure = about?.failure;
  const stages = services.flatMap(({ name, stages: own }) =>
    own.filter(({ state }) => state === 'failed').map(({ name: stage, error }) => ({ name, stage, error })),
  );
  const units = machines.flatMap(({ name, failedUnits }) => failedUnits.map((unit) => `${name}: ${unit}`));
  const told = diagnosis.reasons.filter(({ certainty }) => certainty !== 'waited');
  const isQuiet = failure === undefined && told.length === 0 && stages.length === 0 && units.length === 0;
  return html`
${failure === undefined ? [] : [html`<p class="bad">${failure.message} <small>${failure.code}</small></p>`]}
${isQuiet ? [html`<p class="good">Nothing that was looked at has failed.</p>`] : []}
<ol class="reasons">${told.map(
    ({ sentence, seen, next }) =>
      html`<li><strong>${sentence}</strong><br>${seen}<br><code>${commandText(next, '')}</code></li>\n`,
  )}</ol>
${stages.map(({ name, stage, error }) => html`<p class="bad">${name}: stage ${stage} failed: ${error ?? ''}</p>\n`)}
${units.map((unit) => html`<p class="bad">the unit of ${unit} has failed</p>\n`)}
${
  diagnosis.missing.length === 0
    ? []
    : [html`<h3>Waited for</h3><ul>${diagnosis.missing.map((one) => html`<li>${one}</li>\n`)}</ul>`]
}
${html`<p>${fileLink('diagnosis.txt')} ${fileLink('gather.log')}</p>`}`;
}

const telling = [
  'journals/firstlight-firstboot.log',
  'journals/bootkube.log',
  'journals/kubelet.log',
  'journals/firstlight-agent.log',
  'journals/journal.log',
  'units.txt',
  'etcd/health.txt',
  'system/disks.txt',
];

function machineTable(machines: readonly SummarizedMachine[], files: BundleText): Html {
  const rows = machines.map((machine) => {
    const { name, role, address, state, look, failedUnits, folder } = machine;
    const links = telling.filter((path) => files.has(`${folder}/${path}`));
    return html`<tr><th scope="row">${name}</th><td>${role}</td><td>${address}</td><td>${state}</td><td>${look}</td>
<td${failedUnits.length > 0 ? html` class="bad"` : ''}>${failedUnits.length === 0 ? '–' : failedUnits.join(', ')}</td>
<td>${links.map((path) => html`${fileLink(`${folder}/${path}`, path.replace(/^.*\/|\.\w+$/g, ''))} `)}</td></tr>\n`;
  });
  return html`<table><thead><tr><th>Machine<th>Role<th>Address<th>State<th>Looked at<th>Failed units<th>Files</tr></thead>
<tbody>${rows}</tbody></table>`;
}

function stagesOf(services: readonly BundleService[]): Html {
  if (services.length === 0)
    return html`<p>There are no records of a bootstrap: its machine is gone, or never began.</p>`;
  return html`${services.map(
    ({ name, starts, isSuccess, stages }) => html`<h3>${name}</h3>
<p>${isSuccess ? 'has ended well' : 'has not ended well'}, started ${starts === 1 ? 'once' : `${starts} times`}.</p>
<ol class="stages">${stages.map(
      ({ name: stage, state, at, error }) =>
        html`<li class="${state}">${stage} <small>${state} ${at.slice(11, 19)}</small>${error === undefined ? [] : [html`<br>${error}`]}</li>\n`,
    )}</ol>\n`,
  )}`;
}

function timeOf(files: BundleText): Html {
  const picture = files.get(waterfallPicture);
  if (picture === undefined) return html`<p>No run of create cluster is on record.</p>`;
  const url = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;
  return html`<p><img alt="each step of each machine, from when to when" src="${url}"></p>
<p>${fileLink('timeline/waterfall.txt')} ${fileLink(waterfallPicture)}</p>`;
}

function notTaken({ missed }: BundleSummary): Html {
  if (missed.length === 0) return html`<p>Everything was taken.</p>`;
  return html`<table><tbody>${missed.map(
    ({ what, reason }) => html`<tr><th scope="row">${what}</th><td>${reason}</td></tr>\n`,
  )}</tbody></table>`;
}

function fileList(files: BundleText): Html {
  const folders = Map.groupBy(files, ([path]) => folderOf(path));
  return html`${[...folders].map(
    ([
      folder,
      own,
    ]) => html`<details${folder === '' ? html` open` : ''}><summary>${folder === '' ? 'top' : folder} <small>${own.length}</small></summary>
<ul class="files">${own.map(
      ([path, text]) =>
        html`<li>${fileLink(path, path.slice(folder === '' ? 0 : folder.length + 1))} <small>${size(text.length)}</small></li>\n`,
    )}</ul></details>\n`,
  )}`;
}

/** Files of a machine are listed by kind, rendered ones by stage. */
function folderOf(path: string): string {
  return path.split('/').slice(0, -1).slice(0, 3).join('/');
}

function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(bytes < 10 * 1024 ? 1 : 0)} KiB`;
}
