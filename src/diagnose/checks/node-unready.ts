// A node is not Ready, or reports that it lacks disk, memory or process ids.
import type { DiagnosisCheck } from '../check.ts';

const pressures = new Set(['DiskPressure', 'MemoryPressure', 'PIDPressure']);

export const nodeUnready: DiagnosisCheck = {
  name: 'node-unready',
  why: 'A node says itself what keeps it from taking pods.',
  looksAt: 'conditions of the nodes, from the API',
  certainty: 'reported',
  find: ({ api }) =>
    (api?.conditions ?? [])
      .filter(({ type, status }) => (pressures.has(type) ? status === 'True' : type === 'Ready' && status !== 'True'))
      .map(({ node, type, message }) => ({
        machine: node,
        sentence: type === 'Ready' ? `${node} is not Ready: ${message}` : `${node} has ${type}: ${message}`,
        seen: `condition ${type} of node ${node}`,
        next: { verb: 'kubectl', rest: `describe node ${node}` },
      })),
};
