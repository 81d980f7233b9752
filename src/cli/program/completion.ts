// `firstlight completion bash|zsh|fish`: static scripts made from the table of verbs, so completing costs no start of ours.
import type { CommandBody, CommandSpec, OptionSpec } from '../frame/verb.ts';
import { commands } from '../verbs.ts';
import { globalOptions } from '../frame/global-options.ts';

/** What may follow the words typed so far: `create` → `cluster manifests …`. */
type NextWords = ReadonlyMap<string, readonly string[]>;

export const completion: CommandBody = async ({ args }) => {
  const shell = args[0] ?? 'bash';
  const text = shell === 'fish' ? fish() : shell === 'zsh' ? zsh() : bash();
  return { data: { shell, script: text }, text };
};

function visible(): readonly CommandSpec[] {
  return commands.filter((spec) => spec.isHidden !== true);
}

function nextWords(): NextWords {
  const next = new Map<string, Set<string>>();
  const add = (key: string, word: string): void => void next.set(key, (next.get(key) ?? new Set()).add(word));
  for (const spec of visible()) {
    spec.path.forEach((word, index) => add(spec.path.slice(0, index).join(' '), word));
    for (const choice of spec.arguments?.[0]?.choices ?? []) add(spec.path.join(' '), choice);
    for (const option of [...(spec.options ?? []), ...globalOptions]) add(spec.path.join(' '), longFlag(option));
  }
  return new Map([...next].map(([key, words]) => [key, [...words]]));
}

function longFlag(option: OptionSpec): string {
  return /--[a-z-]+/.exec(option.flags)?.[0] ?? option.flags;
}

function bash(): string {
  const cases = [...nextWords()].map(
    ([key, words]) => `    ${JSON.stringify(key)}) words=${JSON.stringify(words.join(' '))} ;;`,
  );
  return `# firstlight completion for bash
_firstlight() {
  local current="\${COMP_WORDS[COMP_CWORD]}" key="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) key="\${key:+$key }$word" ;; esac
  done
  case "$key" in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _firstlight firstlight
`;
}

function zsh(): string {
  return `#compdef firstlight
autoload -U +X bashcompinit && bashcompinit
${bash()}`;
}

function fish(): string {
  const lines = visible().flatMap((spec) => {
    const before = spec.path.slice(0, -1);
    const condition = before.length === 0 ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${before.join(' ')}`;
    const word = spec.path.at(-1) ?? '';
    const own = `complete -c firstlight -f -n '${condition}' -a '${word}' -d '${spec.summary.replaceAll("'", "\\'")}'`;
    const groups = before.map((name) => `complete -c firstlight -f -n '__fish_use_subcommand' -a '${name}'`);
    const options = (spec.options ?? []).map(
      (option) =>
        `complete -c firstlight -n '__fish_seen_subcommand_from ${word}' -l '${longFlag(option).slice(2)}' -d '${option.description.replaceAll("'", "\\'")}'`,
    );
    return [...groups, own, ...options];
  });
  return `# firstlight completion for fish\n${[...new Set(lines)].join('\n')}\n`;
}
