// One line per group of verbs.
export const groupSummaries: Readonly<Record<string, string>> = {
  create: 'Make the install-config, the assets derived from it, or the cluster.',
  destroy: 'Remove the cluster, or only its bootstrap machine.',
  'wait-for': 'Wait for a milestone of an installation.',
  node: 'Workers of a cluster that stands.',
  machine: 'Real systemd machines on this host.',
  'machine-config': 'What a machine of a pool gets, and why.',
  release: 'What Firstlight installs: build, look at, verify.',
  torcx: 'Pick, verify and install the runtime add-on of a node.',
};
