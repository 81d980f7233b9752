// `firstlight completion`: static scripts made from the table of verbs, so completing a word starts no process of ours.
import { globalOptions } from '../frame/global-options.ts';
import { choiceArgument, choiceOf, type VerbOption } from '../frame/option.ts';
import { defineVerb, type Verb, type VerbRow, type VerbTable } from '../frame/verb.ts';

export const completionVerb = defineVerb({
  args: { shell: choiceArgument('your shell', choiceOf(['bash', 'zsh', 'fish'])) },
  examples: ['source <(firstlight completion bash)', 'firstlight completion fish | source'],
  run: async ({ args: { shell } }) => {
    const { verbTable } = await import('../verbs.ts');
    const verbs = await visibleVerbs(verbTable);
    const text = shell === 'fish' ? fish(verbs) : shell === 'zsh' ? zsh(verbs) : bash(verbs);
    return { data: { shell, script: text }, text };
  },
});

interface LoadedVerb {
  readonly row: VerbRow;
  readonly verb: Verb;
}

/** What may follow the words typed so far: `create` → `cluster manifests …`. */
type NextWords = ReadonlyMap<string, readonly string[]>;

async function visibleVerbs({ rows }: VerbTable): Promise<readonly LoadedVerb[]> {
  const visible = rows.filter((row) => row.isHidden !== true);
  return Promise.all(visible.map(async (row) => ({ row, verb: await row.load() })));
}

function nextWords(verbs: readonly LoadedVerb[]): NextWords {
  const next = new Map<string, Set<string>>();
  const add = (key: string, word: string): void => void next.set(key, (next.get(key) ?? new Set()).add(word));
  for (const { row, verb } of verbs) {
    const words = row.words.split(' ');
    words.forEach((word, index) => add(words.slice(0, index).join(' '), word));
    for (const choice of Object.values(verb.args ?? {})[0]?.choices ?? []) add(row.words, choice);
    for (const option of Object.values({ ...verb.options, ...globalOptions })) add(row.words, longFlag(option));
  }
  return new Map([...next].map(([key, words]) => [key, [...words]]));
}

function longFlag({ flags }: VerbOption<unknown>): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

function bash(verbs: readonly LoadedVerb[]): string {
  const cases = [...nextWords(verbs)].map(
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

function zsh(verbs: readonly LoadedVerb[]): string {
  return `#compdef firstlight
autoload -U +X bashcompinit && bashcompinit
${bash(verbs)}`;
}

function fish(verbs: readonly LoadedVerb[]): string {
  const lines = verbs.flatMap(({ row, verb }) => {
    const words = row.words.split(' ');
    const before = words.slice(0, -1);
    const condition = before.length === 0 ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${before.join(' ')}`;
    const word = words.at(-1) ?? '';
    const own = `complete -c firstlight -f -n '${condition}' -a '${word}' -d '${row.summary.replaceAll("'", "\\'")}'`;
    const groups = before.map((name) => `complete -c firstlight -f -n '__fish_use_subcommand' -a '${name}'`);
    const options = Object.values(verb.options ?? {}).map(
      (option) =>
        `complete -c firstlight -n '__fish_seen_subcommand_from ${word}' -l '${longFlag(option).slice(2)}' -d '${option.description.replaceAll("'", "\\'")}'`,
    );
    return [...groups, own, ...options];
  });
  return `# firstlight completion for fish\n${[...new Set(lines)].join('\n')}\n`;
}
