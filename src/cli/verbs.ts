// Every verb in the order of --help: its words, its summary, and the file with the rest of it. To add a verb: its value
// (frame/verb.ts) in a file in the folder of its area, and a row here; the ipb and machine-config verbs, and what units
// of machines run, have tables of their own.
import type { VerbTable } from './frame/verb.ts';
import { inPlaceVerbs } from './in-place/in-place-verbs.ts';
import { machineConfigVerbs } from './machine-config/machine-config-verbs.ts';
import { onMachineVerbs } from './on-machine/on-machine-verbs.ts';

export const verbTable: VerbTable = {
  groups: {
    create: 'Make the install-config, the assets derived from it, or the cluster.',
    destroy: 'Remove the cluster, or only its bootstrap machine.',
    'wait-for': 'Wait for a milestone of an installation.',
    gather: 'Logs and states of machines and API, in one file.',
    kubeconfig: 'Where the administrator’s kubeconfig is, and kubeconfigs for other people.',
    node: 'Workers of a cluster that stands.',
    image: 'Images for the registry of the cluster.',
    secrets: 'The key by which Secrets are encrypted in etcd.',
    machine: 'Real systemd machines on this host.',
    'machine-config': 'What a machine of a pool gets, and why.',
    ipb: 'Machines that already run: bring them to new configuration in place.',
    release: 'What Firstlight installs: build, look at, verify.',
    bootkube: 'The stages of a bootstrap, from the asset folder or on the bootstrap machine.',
    torcx: 'Pick, verify and install the runtime add-on of a node.',
  },
  rows: [
    {
      words: 'create install-config',
      summary: 'Write install-config.yaml: by asking on a terminal, else with commented defaults.',
      load: async () => (await import('./assets/create-install-config.ts')).createInstallConfigVerb,
    },
    {
      words: 'create manifests',
      summary: 'Derive the Kubernetes manifests that the new cluster starts with.',
      load: async () => (await import('./assets/create-manifests.ts')).createManifestsVerb,
    },
    {
      words: 'create ignition-configs',
      summary: 'Derive everything that machines are booted with: Ignition configs, keys, kubeconfigs.',
      load: async () => (await import('./assets/create-ignition-configs.ts')).createIgnitionConfigsVerb,
    },
    {
      words: 'graph',
      summary: 'Draw from what each asset is made.',
      load: async () => (await import('./assets/graph.ts')).graphVerb,
    },
    {
      words: 'explain',
      summary: 'Say what something is, why it exists and what it may be.',
      load: async () => (await import('./explain/explain.ts')).explainVerb,
    },
    {
      words: 'create cluster',
      summary: 'Make a cluster on this host: from nothing, or from where it stopped.',
      load: async () => (await import('./cluster/create-cluster.ts')).createClusterVerb,
    },
    {
      words: 'destroy cluster',
      summary: 'Remove the machines of the cluster and all they left on this host.',
      load: async () => (await import('./cluster/destroy-cluster.ts')).destroyClusterVerb,
    },
    {
      words: 'destroy bootstrap',
      summary: 'Remove the bootstrap machine, once the masters carry the cluster.',
      load: async () => (await import('./cluster/destroy-bootstrap.ts')).destroyBootstrapVerb,
    },
    {
      words: 'status',
      summary: 'Show the machines, etcd voters and nodes of the cluster, or where the time went.',
      load: async () => (await import('./cluster/status.ts')).statusVerb,
    },
    {
      words: 'diagnose',
      summary: 'Look into every machine and say what keeps the cluster from going on, the likeliest reason first.',
      load: async () => (await import('./cluster/diagnose.ts')).diagnoseVerb,
    },
    {
      words: 'audit',
      summary: 'Look at the running cluster and its folder, control by control of the CIS Kubernetes benchmark.',
      load: async () => (await import('./cluster/audit.ts')).auditVerb,
    },
    {
      words: 'gather',
      summary: 'Put all that machines and API say into one file to look at, without secrets.',
      load: async () => (await import('./gather/gather.ts')).gatherVerb,
    },
    {
      words: 'gather bootstrap',
      summary: 'The same of the bootstrap machine and the masters, for a bootstrap that fails.',
      load: async () => (await import('./gather/gather-bootstrap.ts')).gatherBootstrapVerb,
    },
    {
      words: 'gather analyze',
      summary: 'Read such a file and say what failed first.',
      load: async () => (await import('./gather/gather-analyze.ts')).gatherAnalyzeVerb,
    },
    {
      words: 'backup',
      summary: 'Write a verified snapshot of etcd, with what a restore needs, into one file.',
      load: async () => (await import('./recovery/backup.ts')).backupVerb,
    },
    {
      words: 'restore',
      summary: 'Bring a cluster back whose masters are all lost, from a backup.',
      load: async () => (await import('./recovery/restore.ts')).restoreVerb,
    },
    {
      words: 'wait-for bootstrap-complete',
      summary: 'Wait until the masters carry the cluster and the bootstrap machine may go.',
      load: async () => (await import('./cluster/wait-for-bootstrap-complete.ts')).waitForBootstrapCompleteVerb,
    },
    {
      words: 'wait-for install-complete',
      summary: 'Wait until every node is Ready and the control plane and the add-ons have settled.',
      load: async () => (await import('./cluster/wait-for-install-complete.ts')).waitForInstallCompleteVerb,
    },
    {
      words: 'kubeconfig',
      summary: 'Say where the kubeconfig is, or merge it into yours.',
      load: async () => (await import('./cluster/kubeconfig.ts')).kubeconfigVerb,
    },
    {
      words: 'kubeconfig create',
      summary: 'Make a kubeconfig for a person, with a certificate that the cluster signs.',
      load: async () => (await import('./cluster/kubeconfig-create.ts')).kubeconfigCreateVerb,
    },
    {
      words: 'kubectl',
      summary: 'Run the release’s own kubectl at this cluster.',
      load: async () => (await import('./cluster/kubectl.ts')).kubectlVerb,
    },
    {
      words: 'image load',
      summary: 'Push the images of an archive into the registry of the cluster.',
      load: async () => (await import('./image/load.ts')).imageLoadVerb,
    },
    {
      words: 'node add',
      summary: 'Add workers to a cluster that stands, or make a lost master anew.',
      load: async () => (await import('./node/add.ts')).nodeAddVerb,
    },
    {
      words: 'node remove',
      summary: 'Move the pods of a worker away and remove it for good.',
      load: async () => (await import('./node/remove.ts')).nodeRemoveVerb,
    },
    {
      words: 'node list',
      summary: 'Show the machines that may be nodes, and which are.',
      load: async () => (await import('./node/list.ts')).nodeListVerb,
    },
    {
      words: 'secrets status',
      summary: 'Show by which key Secrets are encrypted, and how old it is.',
      load: async () => (await import('./secrets/status.ts')).secretsStatusVerb,
    },
    {
      words: 'secrets rotate-key',
      summary: 'Encrypt all Secrets by a new key, while the cluster serves.',
      load: async () => (await import('./secrets/rotate-key.ts')).secretsRotateKeyVerb,
    },
    {
      words: 'ssh',
      summary: 'Log in on a machine of the cluster, or run a command there.',
      load: async () => (await import('./ssh/ssh.ts')).sshVerb,
    },
    {
      words: 'ssh-config',
      summary: 'Print what your own ssh needs to reach the machines by name.',
      load: async () => (await import('./ssh/ssh-config.ts')).sshConfigVerb,
    },
    {
      words: 'ssh-relay',
      summary: 'Connect standard input and output with a port, for ssh.',
      isHidden: true,
      load: async () => (await import('./ssh/ssh-relay.ts')).sshRelayVerb,
    },
    {
      words: 'ssh-host-keys',
      summary: 'Print the host keys of a machine, for ssh.',
      isHidden: true,
      load: async () => (await import('./ssh/ssh-host-keys.ts')).sshHostKeysVerb,
    },
    {
      words: 'machine create',
      summary: 'Make machines that boot with an Ignition config.',
      load: async () => (await import('./machine/create.ts')).machineCreateVerb,
    },
    {
      words: 'machine list',
      summary: 'Show machines, what they do, and what they wait for.',
      load: async () => (await import('./machine/list.ts')).machineListVerb,
    },
    {
      words: 'machine start',
      summary: 'Start machines that are stopped, and what died of their network.',
      load: async () => (await import('./machine/start.ts')).machineStartVerb,
    },
    {
      words: 'machine stop',
      summary: 'Shut machines down; their files stay.',
      load: async () => (await import('./machine/stop.ts')).machineStopVerb,
    },
    {
      words: 'machine reboot',
      summary: 'Reboot machines. First boot does not repeat.',
      load: async () => (await import('./machine/reboot.ts')).machineRebootVerb,
    },
    {
      words: 'machine exec',
      summary: 'Run a command inside a machine, as root.',
      load: async () => (await import('./machine/exec.ts')).machineExecVerb,
    },
    {
      words: 'machine shell',
      summary: 'Open a root shell inside a machine.',
      load: async () => (await import('./machine/shell.ts')).machineShellVerb,
    },
    {
      words: 'machine logs',
      summary: 'Show a machine’s journal, also of one that is stopped.',
      load: async () => (await import('./machine/logs.ts')).machineLogsVerb,
    },
    {
      words: 'machine destroy',
      summary: 'Remove machines and everything of them; with the last one goes the cluster’s network.',
      load: async () => (await import('./machine/destroy.ts')).machineDestroyVerb,
    },
    {
      words: 'doctor',
      summary: 'Say what this host is and whether it can run machines.',
      load: async () => (await import('./cluster/doctor.ts')).doctorVerb,
    },
    ...machineConfigVerbs,
    ...inPlaceVerbs,
    {
      words: 'release build',
      summary: 'Build what is missing of the release: parts, images, machine root.',
      load: async () => (await import('./release/build.ts')).releaseBuildVerb,
    },
    {
      words: 'release info',
      summary: 'Say what is in the release: version, digest, components, image variables.',
      load: async () => (await import('./release/info.ts')).releaseInfoVerb,
    },
    {
      words: 'release verify',
      summary: 'Check every digest of the release, and its signature when a key is given.',
      load: async () => (await import('./release/verify.ts')).releaseVerifyVerb,
    },
    {
      words: 'release extract',
      summary: 'Take one component out of the release.',
      load: async () => (await import('./release/extract.ts')).releaseExtractVerb,
    },
    {
      words: 'bootkube stages',
      summary: 'List the fifteen stages of a bootstrap, and how far they are.',
      load: async () => (await import('./bootkube/stages.ts')).bootkubeStagesVerb,
    },
    {
      words: 'bootkube stage',
      summary: 'Run, show or step through one stage by hand.',
      load: async () => (await import('./bootkube/stage.ts')).bootkubeStageVerb,
    },
    {
      words: 'bootkube next',
      summary: 'Run the one stage before which the bootstrap is held.',
      load: async () => (await import('./bootkube/next.ts')).bootkubeNextVerb,
    },
    {
      words: 'bootkube continue',
      summary: 'Let a bootstrap that is held run to its end.',
      load: async () => (await import('./bootkube/continue.ts')).bootkubeContinueVerb,
    },
    {
      words: 'bootkube pause',
      summary: 'Hold a bootstrap before a stage that it has not come to.',
      load: async () => (await import('./bootkube/pause.ts')).bootkubePauseVerb,
    },
    {
      words: 'bootkube render-all',
      summary: 'Run the stages 1 to 12: render everything, start nothing.',
      load: async () => (await import('./bootkube/render-all.ts')).bootkubeRenderAllVerb,
    },
    {
      words: 'bootkube render-etcd',
      summary: 'Render the first etcd member.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-etcd'),
    },
    {
      words: 'bootkube render-kube-apiserver',
      summary: 'Render the temporary API server.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-kube-apiserver'),
    },
    {
      words: 'bootkube render-kcm',
      summary: 'Render the temporary controller manager.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-kcm'),
    },
    {
      words: 'bootkube render-scheduler',
      summary: 'Render the temporary scheduler.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-scheduler'),
    },
    {
      words: 'bootkube render-cvo',
      summary: 'Render the release’s own manifests and the ClusterVersion.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-cvo'),
    },
    {
      words: 'bootkube render-mco',
      summary: 'Render one machine configuration per pool.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('render-mco'),
    },
    {
      words: 'bootkube start-bootstrap',
      summary: 'Start what was rendered: etcd, API, and those who need it.',
      load: async () => (await import('./bootkube/named-stages.ts')).namedStageVerb('start-bootstrap'),
    },
    {
      words: 'bootkube run',
      summary: 'The whole bootstrap of this machine: the stages, the masters, the handoff.',
      isHidden: true,
      load: async () => (await import('./bootkube/run.ts')).bootkubeRunVerb,
    },
    {
      words: 'render',
      summary: 'Render one component, in a container of our own image.',
      isHidden: true,
      load: async () => (await import('./bootkube/render.ts')).renderVerb,
    },
    {
      words: 'approve-csr',
      summary: 'Let the expected machines in while the bootstrap goes on.',
      isHidden: true,
      load: async () => (await import('./bootkube/approve-csr.ts')).approveCsrVerb,
    },
    {
      words: 'tectonic',
      summary: 'Deploy the add-ons through the masters.',
      isHidden: true,
      load: async () => (await import('./bootkube/tectonic.ts')).tectonicVerb,
    },
    {
      words: 'rm-assets',
      summary: 'Remove every secret and token of this bootstrap machine.',
      isHidden: true,
      load: async () => (await import('./bootkube/rm-assets.ts')).rmAssetsVerb,
    },
    {
      words: 'progress',
      summary: 'Report how far the bootstrap is.',
      isHidden: true,
      load: async () => (await import('./bootkube/progress.ts')).progressVerb,
    },
    {
      words: 'completion',
      summary: 'Print a script that completes commands and options in your shell.',
      load: async () => (await import('./program/completion.ts')).completionVerb,
    },
    {
      words: 'version',
      summary: 'Say which Firstlight this is and what runs it.',
      load: async () => (await import('./program/version.ts')).versionVerb,
    },
    {
      words: 'torcx bootstrap',
      summary: 'Prepare a new node: install the docker that fits, write kubelet.env, reboot if needed.',
      load: async () => (await import('./torcx/bootstrap.ts')).torcxBootstrapVerb,
    },
    {
      words: 'torcx hook-pre',
      summary: 'Prepare a node for the OS update that waits for a reboot, then say so on its Node object.',
      load: async () => (await import('./torcx/hook-pre.ts')).torcxHookPreVerb,
    },
    {
      words: 'torcx manifests',
      summary: 'Print the DaemonSet that runs the hook in a cluster, with its rights.',
      load: async () => (await import('./torcx/manifests.ts')).torcxManifestsVerb,
    },
    ...onMachineVerbs,
  ],
};
