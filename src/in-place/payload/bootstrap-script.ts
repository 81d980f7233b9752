// bootstrap.sh of a payload: finds the package manager, gets ansible from it where the machine has none, and runs one
// step of one stage. Bash alone, because nothing else is certain to be on a machine that somebody else made.
import { payloadPaths } from './payload-manifest.ts';
import { retryLaterCode } from './payload-steps.ts';

/** A JSON file with facts of this machine that playbooks read; see `MachineVariables` in kube-playbook.ts. */
export const machineVariablesVariable = 'IPB_MACHINE_VARIABLES';

export const bootstrapScript = `#!/bin/bash
# Runs one step of this payload on this machine, as root: bootstrap.sh base|kube STEP
# Exit code ${retryLaterCode}: nothing is broken, the same step may succeed later. Any other but 0: the step failed.
set -euo pipefail
readonly later=${retryLaterCode}
stage=\${1:?the stage is missing: base or kube}
step=\${2:?the step is missing}
folder=$(cd -- "$(dirname -- "\${BASH_SOURCE[0]}")" && pwd -P)
variables=\${${machineVariablesVariable}:-}
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022

fail() { printf 'bootstrap.sh: %s\\n' "$1" >&2; exit "\${2:-1}"; }

package_manager() {
  local ID= ID_LIKE=
  . /etc/os-release
  case " $ID $ID_LIKE " in
    *' debian '* | *' ubuntu '*) echo apt ;;
    *' rhel '* | *' fedora '* | *' centos '*) echo dnf ;;
    *) return 1 ;;
  esac
}

apt() { apt-get -q -y -o DPkg::Lock::Timeout=120 -o APT::Update::Error-Mode=any -o Acquire::Retries=2 "$@" >&2; }

# A power failure during an installation leaves packages half configured, and apt refuses to go on.
repair_packages() {
  [ "$manager" = apt ] || return 0
  [ -z "$(dpkg --audit)" ] || dpkg --configure -a >&2 || fail 'dpkg --configure -a failed'
}

# Every repository must answer: an update from half of them would not be one.
refresh_repositories() {
  if [ "$manager" = apt ]; then
    apt update || fail 'the package repositories do not answer' "$later"
  else
    dnf -y -q --refresh --setopt=skip_if_unavailable=False makecache >&2 || fail 'the package repositories do not answer' "$later"
  fi
}

get_ansible() {
  ! command -v ansible-playbook >/dev/null || return 0
  refresh_repositories
  if [ "$manager" = apt ]; then
    apt-cache show ansible-core >/dev/null 2>&1 || fail 'no package repository of this machine has ansible-core' 69
    apt install --no-install-recommends ansible-core python3-apt || fail 'ansible-core was not installed' "$later"
  else
    dnf -q list ansible-core >/dev/null 2>&1 || fail 'no package repository of this machine has ansible-core' 69
    dnf -y -q install ansible-core >&2 || fail 'ansible-core was not installed' "$later"
  fi
}

manager=$(package_manager) || fail '/etc/os-release names neither a Debian nor a Red Hat family' 69
repair_packages
get_ansible
[ "$stage/$step" != base/packages ] || refresh_repositories
marker=$folder/later
rm -f -- "$marker"
export ANSIBLE_CONFIG=$folder/${payloadPaths.ansibleSettings}
# Contents of files pass through these folders: no other user may look into them.
export ANSIBLE_LOCAL_TEMP=$folder/tmp ANSIBLE_REMOTE_TEMP=$folder/tmp
# Otherwise ansible would look for it anew in every step. The first one is that of the package manager on older systems.
for python in /usr/libexec/platform-python /usr/bin/python3; do
  [ ! -x "$python" ] || { export ANSIBLE_PYTHON_INTERPRETER=$python; break; }
done
container=false
! systemd-detect-virt --quiet --container || container=true
code=0
ansible-playbook --inventory localhost, --tags "$step" \\
  --extra-vars "@$folder/${payloadPaths.variables}" \${variables:+--extra-vars "@$variables"} \\
  --extra-vars "{\\"ipb_folder\\": \\"$folder/ansible\\", \\"ipb_manager\\": \\"$manager\\", \\"ipb_later\\": \\"$marker\\", \\"ipb_container\\": $container}" \\
  "$folder/ansible/$stage.yml" || code=$?
[ "$code" = 0 ] || [ ! -e "$marker" ] || exit "$later"
exit "$code"
`;

export const ansibleSettingsText = `[defaults]
interpreter_python = auto_silent
retry_files_enabled = False
gathering = explicit
nocows = True
deprecation_warnings = False
localhost_warning = False
inventory_unparsed_warning = False
stdout_callback = default
display_skipped_hosts = False
any_errors_fatal = True

[connection]
pipelining = True
`;
