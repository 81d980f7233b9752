// crictl and etcdctl as people type them on a machine: upstream's programs behind two small scripts. A script adds what
// the machine knows (the certificates of its etcd) and what the program cannot do (find a container by its name);
// whatever the caller says, by flag or by variable, wins. Both become root by sudo, which the user `core` may anyway.

import { containerdSocket, controlPlanePki, programs, upstreamProgramFolder } from '../../contract/machine-paths.ts';
import { etcdPorts } from '../../contract/ports.ts';

export interface TypedCommand {
  readonly name: string;
  readonly script: string;
  /** The program behind it, where it is the name of another one that looks at how it is called. */
  readonly linkTo?: string;
}

/**
 * Upstream's `logs` takes only the id of a container. A name is that of its newest container; where no container but a
 * unit has the name, as the config server of a bootstrap machine, the journal of that is shown, and said to be one.
 */
const crictl = `#!/bin/sh
[ "$(id -u)" = 0 ] || exec sudo --non-interactive "$0" "$@"
upstream=${upstreamProgramFolder}/crictl
verb= follow= name=
for word in "$@"; do
  case $verb:$word in
    :-*) ;;
    :logs) verb=logs ;;
    # What stands behind an option may be its value.
    :*) case $name in -*) ;; *) verb=other ;; esac ;;
    *:-f | *:--follow) follow=--follow ;;
  esac
  name=$word
done
[ "$verb" = logs ] || exec "$upstream" "$@"
case $name in
  logs | -*) exec "$upstream" "$@" ;;
  *[!0-9a-f]*) ;;
  *) exec "$upstream" "$@" ;;
esac
id=$("$upstream" ps --all --latest --quiet --name "^$name\\$") || exit
if [ -z "$id" ]; then
  if systemctl cat "$name.service" >/dev/null 2>&1; then
    echo "crictl: $name is no container of this machine but a unit; this is its journal" >&2
    exec journalctl --boot --no-pager --output=cat --unit="$name.service" $follow
  fi
  echo "crictl: this machine has no container $name; it has:" >&2
  "$upstream" ps --all >&2
  exit 1
fi
left=$#
while [ "$left" -gt 1 ]; do
  set -- "$@" "$1"
  shift
  left=$((left - 1))
done
shift
exec "$upstream" "$@" "$id"
`;

/** etcdctl refuses a setting that is given by a flag and by a variable. */
const etcdctl = `#!/bin/sh
names=ETCDCTL_ENDPOINTS,ETCDCTL_CACERT,ETCDCTL_CERT,ETCDCTL_KEY
[ "$(id -u)" = 0 ] || exec sudo --non-interactive --preserve-env="$names" "$0" "$@"
words=" $* "
setting() {
  case $words in *" --$2 "* | *" --$2="*) return ;; esac
  eval "[ -n \\"\\\${$1-}\\" ]" || export "$1=$3"
}
key=${controlPlanePki}/etcd-membership-client.key
[ -e "$key" ] || echo 'etcdctl: this machine has no key of a client of etcd; control-plane machines have one' >&2
setting ETCDCTL_ENDPOINTS endpoints https://127.0.0.1:${etcdPorts.client}
setting ETCDCTL_CACERT cacert ${controlPlanePki}/etcd-ca.crt
setting ETCDCTL_CERT cert ${controlPlanePki}/etcd-membership-client.crt
setting ETCDCTL_KEY key "$key"
exec ${upstreamProgramFolder}/etcdctl "$@"
`;

export const typedCommands: readonly TypedCommand[] = [
  { name: 'crictl', script: crictl },
  { name: 'etcdctl', script: etcdctl, linkTo: programs.etcd },
];

/** The configuration of crictl, at its default path. */
export const crictlConfig = {
  path: 'etc/crictl.yaml',
  text: ['runtime', 'image'].map((kind) => `${kind}-endpoint: unix://${containerdSocket}\n`).join(''),
} as const;
