// P10, P11, P13 and P14: the services that the change will need while nobody can reach the machine through Kubernetes.
import { judged, type PreflightCheck, type PreflightVerdict } from '../check.ts';
import type { PreflightFacts, ReportFacts } from '../facts.ts';

function judgeRegistries({ registries }: PreflightFacts): PreflightVerdict {
  if (registries.length === 0) return judged.skipped('no image is asked for');
  const failures = registries.flatMap(({ registry, image, answer }) => {
    if (answer === 'present') return [];
    if (answer.status === 'unreached') return [`registry ${registry} -> ${answer.stage}: ${answer.detail} (${image})`];
    return answer.value === 200 ? [] : [`registry ${registry} -> ${answer.value} (${image})`];
  });
  return failures.length === 0
    ? judged.ok(`${registries.map(({ image }) => image).join(', ')}: there`)
    : judged.transient(failures.join('; '));
}

function judgeRepositories({ brokenRepositories }: PreflightFacts): PreflightVerdict {
  if (brokenRepositories === undefined) return judged.skipped('only for hosts with packages');
  return brokenRepositories.length === 0
    ? judged.ok('every package repository of the host answers')
    : judged.transient(brokenRepositories.map(({ id, detail }) => `repo ${id}: ${detail}`).join('; '));
}

/** 409: the server has other events of the attempt, and would take this one in its turn. */
const accepted = [200, 202, 204, 409];

function reportProblem({ url, answer }: ReportFacts): string | undefined {
  if (answer.status === 'unreached') return `report API -> ${answer.stage}: ${answer.detail} (${url})`;
  return accepted.includes(answer.value) ? undefined : `report API -> ${answer.value} (${url})`;
}

function judgeReports({ reports, secret }: PreflightFacts): PreflightVerdict {
  const problems = reports.flatMap((report) => {
    const problem = reportProblem(report);
    return problem === undefined ? [] : [{ problem, isNeeded: report.isOwn || secret.report === 'required' }];
  });
  if (problems.length === 0) return judged.ok('events are accepted');
  const text = problems.map(({ problem }) => problem).join('; ');
  return problems.some(({ isNeeded }) => isNeeded) ? judged.transient(text) : judged.warning(text);
}

function judgeApi({ api }: PreflightFacts): PreflightVerdict {
  if (api === undefined) return judged.skipped('no payload says which API it is');
  return api.problem === undefined
    ? judged.ok(`api ${api.url} lets the machine ask for its certificate`)
    : judged.transient(`api ${api.url}: ${api.problem}`);
}

export const registryCheck: PreflightCheck = {
  id: 'P10',
  title: 'images can be had',
  why: 'The daemon of the release comes from its image, and without a registry no pod starts afterwards.',
  judge: judgeRegistries,
};

export const repositoryCheck: PreflightCheck = {
  id: 'P11',
  title: 'package repositories answer',
  why: 'Packages are updated before the kubelet is put in place. A repository that needs a subscription is asked with it.',
  judge: judgeRepositories,
};

export const reportCheck: PreflightCheck = {
  id: 'P13',
  title: 'reports are accepted',
  why: 'While the kubelet is stopped, reports are all that anybody sees of the machine.',
  judge: judgeReports,
};

export const apiCheck: PreflightCheck = {
  id: 'P14',
  title: 'the API of the new configuration lets the machine join',
  why: 'A machine with a new configuration and no API to join has left one cluster and reached none.',
  judge: judgeApi,
};
