// Kubernetes label selectors, with the machine-config rule that no selector, and an empty one, select nothing: a pool
// that forgot its selector must not get every MachineConfig of the cluster.
import type { LabelSelector } from './machine-config.ts';

type Labels = Readonly<Record<string, string>>;

export function selects(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  if (selector === undefined || selector === null) return false;
  const { matchLabels, matchExpressions } = selector;
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return false;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => meets(expression, labels))
  );
}

function meets({ key, operator, values }: LabelSelector['matchExpressions'][number], labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      // Kubernetes counts an absent label as "not in".
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
