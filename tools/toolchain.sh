# Sourced by ./firstlight and ./check: makes sure that node_modules is what package-lock.json says and sets $node.
# An install happens in a folder named after the lockfile's digest and becomes visible by one rename, so that two
# starts at once, or a kill in the middle, never leave a half-made toolchain. Expects $root.

say() { printf '%s\n' "firstlight: $*" >&2; }

toolchain_is_ready() {
  [ -e "$root/node_modules/.ready" ] && [ ! "$root/package-lock.json" -nt "$root/node_modules/.ready" ]
}

need_npm() {
  if ! command -v npm >/dev/null 2>&1 || ! command -v node >/dev/null 2>&1; then
    say "npm is needed once, to install what is missing, and was not found."
    say "On Debian or Ubuntu: apt-get install npm    On Fedora: dnf install npm    Then run the same command again."
    exit 4
  fi
  major=$(node -p 'process.versions.node.split(".")[0]')
  if [ "$major" -lt 18 ]; then
    say "the installed Node $major is too old to install packages; Node 18 or newer is needed (apt-get install npm)."
    exit 4
  fi
}

install_toolchain() {
  need_npm
  digest=$(sha256sum "$root/package-lock.json" | cut -c1-16)
  mkdir -p "$root/.toolchain" || { say "cannot write to $root; install as the user who owns that folder."; exit 4; }
  store=$(cd "$root/.toolchain" && pwd)
  # One installs, the others wait; without flock each installs for itself and the first rename wins.
  exec 9>"$store/lock"
  if command -v flock >/dev/null 2>&1; then flock 9; fi
  if [ ! -e "$store/$digest/node_modules/.ready" ]; then
    say "installing dependencies by lockfile (once, about half a minute)"
    work=$store/$digest.$$
    rm -rf "$work"
    mkdir -p "$work"
    cp "$root/package.json" "$root/package-lock.json" "$root/.npmrc" "$work/"
    # Not `npm ci`: it refuses a lockfile that lacks optional packages of foreign platforms, which mirrors may not have.
    # `npm install` beside a lockfile takes exactly its versions and checks its digests.
    if ! (cd "$work" && npm install --no-save --no-audit --no-fund --ignore-scripts >"$store/npm.log" 2>&1); then
      rm -rf "$work"
      say "npm could not install the dependencies; the end of $store/npm.log:"
      tail -n 5 "$store/npm.log" >&2
      exit 4
    fi
    : >"$work/node_modules/.ready"
    rm -rf "${store:?}/$digest"
    mv "$work" "$store/$digest"
  fi
  touch "$store/$digest/node_modules/.ready"
  link=$store/link.$$
  ln -sfn ".toolchain/$digest/node_modules" "$link"
  # A folder made by hand with `npm install` gives way; a rename cannot replace a folder by a link.
  if [ -d "$root/node_modules" ] && [ ! -L "$root/node_modules" ]; then mv "$root/node_modules" "$store/replaced.$$"; fi
  mv -fT "$link" "$root/node_modules"
  rm -rf "$store"/replaced.*
  exec 9>&-
}

toolchain_is_ready || install_toolchain
for node in "$root"/node_modules/node-linux-*/bin/node; do :; done
if [ ! -x "$node" ]; then
  say "there is no Node for this machine ($(uname -sm)) among the dependencies; linux on x64 and arm64 are supported."
  exit 4
fi
