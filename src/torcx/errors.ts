// What can stop the torcx bootstrapper or its hook. Every row makes the unit fail, so that the kubelet does not start,
// and systemd retries. The original program exits with 1, which its callers know; only an overdue reboot differs.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

const exit = exitCodes.other;

export const torcxErrors = errorTable('TORCX', {
  USAGE: {
    message: (e: { reason: string }) => e.reason,
    hint: 'firstlight torcx bootstrap --help and firstlight torcx hook-pre --help list the flags and their defaults.',
    means:
      'A flag has a value that cannot be used, or two flags contradict each other. Nothing was looked at or changed.',
    exit,
  },
  LOCKED: {
    message: (e: { path: string }) => `another torcx run holds ${e.path}`,
    hint: 'Wait for it to end; systemctl status k8s-node-bootstrap and the hook pods say who it is.',
    means: 'Two runs at once would undo each other. The lock is freed by the kernel when its holder ends.',
    exit,
  },
  INPUT: {
    message: (e: { path: string; reason: string }) => `${e.path}: ${e.reason}`,
    hint: 'The installer provides this file on every node; nothing was changed. Put it right and run the same command again.',
    means:
      'A file that this run needs is missing or cannot be understood. All inputs are read before the first change.',
    exit,
  },
  KUBE_VERSION_UNKNOWN: {
    message: (e: { tried: readonly string[] }) => `unable to determine the cluster version: ${e.tried.join('; ')}`,
    hint: 'Give it with --force-kube-version, or put KUBELET_IMAGE_TAG into the installer’s kubelet.env.',
    means: 'Neither the API server nor the local file said which Kubernetes version this cluster runs.',
    exit,
  },
  KUBE_VERSION: {
    message: (e: { version: string; reason: string }) => `Kubernetes version ${JSON.stringify(e.version)} ${e.reason}`,
    hint: 'A version looks like v1.9.6+coreos.0: three numbers, then perhaps a build.',
    means:
      'The version decides which runtimes fit and becomes the tag of the kubelet image; a malformed one is refused.',
    exit,
  },
  MAPPINGS: {
    message: (e: { source: string; reason: string }) => `runtime mappings from ${e.source}: ${e.reason}`,
    hint: 'kind: VersionManifestV1, then versions.k8s."<major>.<minor>".docker as a list, best first.',
    means: 'The mappings say which docker versions fit which Kubernetes minor; without them nothing can be chosen.',
    exit,
  },
  BUCKET: {
    message: (e: { url: string; reason: string; status?: number }) => `${e.url}: ${e.reason}`,
    hint: 'Check --torcx-manifest-url, the proxy variables and the certificate authorities of this node.',
    means: 'The bucket is the one source without a local fallback: while it fails, the node does not join.',
    exit,
  },
  SIGNATURE: {
    message: (e: { url: string; reason: string }) => `the signature of ${e.url} is not acceptable: ${e.reason}`,
    hint: 'Check that --keyring holds the publisher’s key. --strict-key-expiry=false accepts keys that expired after they signed; --no-verify-signatures accepts whatever the bucket says.',
    means: 'The package list must be signed by a key of the keyring that is valid now and was valid when it signed.',
    exit,
  },
  REPLAY: {
    message: (e: { url: string; reason: string }) =>
      `the package list at ${e.url} is not the one asked for: ${e.reason}`,
    hint: 'Somebody between this node and the publisher may serve an old list, or one for other nodes. If the publisher took a list back on purpose, remove /var/lib/torcx/accepted-lists.json on the node.',
    means:
      'The list is well signed, but it is older than one that this node has accepted, or it is for another board or OS version.',
    exit,
  },
  MANIFEST: {
    message: (e: { url: string; reason: string }) => `the package list at ${e.url} cannot be used: ${e.reason}`,
    hint: 'It must be a torcx-package-list-v0 for exactly this board and OS version.',
    means: 'The package list was fetched, but it is not of the documented form.',
    exit,
  },
  NO_SUITABLE_VERSION: {
    message: (e: { osVersion: string; wanted: readonly string[]; offered: readonly string[] }) =>
      `no suitable docker version for OS ${e.osVersion}: wanted ${e.wanted.join(', ') || 'none'}, offered ${e.offered.join(', ') || 'none'}`,
    hint: 'Extend the runtime mappings, or publish one of the wanted versions for that OS version.',
    means: 'The OS that boots next decides; none of the preferred versions is available for it.',
    exit,
  },
  IMAGE: {
    message: (e: { image: string; reasons: readonly string[] }) => `cannot get ${e.image}: ${e.reasons.join('; ')}`,
    hint: 'Every location of the package list was tried in order. Nothing of the image was kept.',
    means:
      'An add-on image could not be fetched, or what was fetched does not have the hash that the package list states.',
    exit,
  },
  UPDATE_ENGINE: {
    message: (e: { reason: string }) => `update_engine: ${e.reason}`,
    hint: 'systemctl status update-engine; --upgrade-os=false goes on without asking for an update.',
    means: 'The service that knows the next OS version could not be asked, or left while it was being waited for.',
    exit,
  },
  NEXT_VERSION_UNKNOWN: {
    message: (e: { reported: string }) =>
      `an OS update waits for a reboot, but its version is unknown (update_engine says ${JSON.stringify(e.reported)})`,
    hint: 'Reboot the node: update_engine forgot the version when it was restarted, and only the reboot ends that state.',
    means:
      'Without the version of the next OS its add-on cannot be prepared, and booting it would leave the node without docker.',
    exit,
  },
  NO_NEXT_VERSION: {
    message: (e: { status: string }) => `no OS update is waiting (update_engine says ${e.status})`,
    hint: 'Leave out --require-next-version to prepare the running OS only.',
    means: 'The hook was told to succeed only where an update is waiting for a reboot.',
    exit,
  },
  TORCX: {
    message: (e: { operation: string; reason: string }) => `torcx ${e.operation}: ${e.reason}`,
    hint: 'Look at /etc/torcx and /var/lib/torcx; leave out --torcx-bin to use the built-in implementation.',
    means: 'A profile or a store of torcx could not be read or changed.',
    exit,
  },
  SYSTEMD: {
    message: (e: { call: string; reason: string }) => `systemd ${e.call}: ${e.reason}`,
    hint: 'Everything prepared so far stays; run the same command again.',
    means: 'systemd could not be reached over D-Bus or refused a request.',
    exit,
  },
  REBOOT_REFUSED: {
    message: (e: { reason: string }) => `the reboot did not happen: ${e.reason}`,
    hint: 'kubelet.env was taken back, so the kubelet does not start on the wrong docker. Run the same command again.',
    means: 'The node needs a reboot to run the docker or the OS that was prepared, and systemd did not do it.',
    exit,
  },
  REBOOT_OVERDUE: {
    message: (e: { seconds: number }) => `systemd accepted the reboot ${e.seconds} s ago and this node is still up`,
    hint: 'systemctl list-jobs shows what it waits for. kubelet.env was taken back; run the same command again.',
    means: 'The reboot was accepted but something holds it up. The exit code differs from other failures on purpose.',
    exit: exitCodes.notStable,
  },
  ANNOTATION: {
    message: (e: { node: string; reason: string }) => `cannot annotate node ${e.node}: ${e.reason}`,
    hint: 'Check --kubeconfig and that its identity may patch this node. The update operator waits until it worked.',
    means: 'The node is prepared, but the operator that reboots it could not be told.',
    exit,
  },
});
