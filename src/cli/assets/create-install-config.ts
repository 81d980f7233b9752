// `firstlight create install-config`: a dialogue on a terminal, else the defaults. An existing file is only checked.
import { join } from 'node:path';
import { architectureOf } from '../../install-config/architecture.ts';
import { masterCount, workerCount } from '../../install-config/cluster-facts.ts';
import type { Answers } from '../../install-config/questions.ts';
import { shownPath } from '../frame/paths.ts';
import { defineVerb, type Invocation } from '../frame/verb.ts';

export const createInstallConfigVerb = defineVerb({
  description:
    'The install-config is the only file you have to write, and every field of it has a default. On a terminal you are asked for the few things that matter; Enter accepts what is proposed. An existing file is checked and never overwritten.',
  examples: ['firstlight create install-config', 'firstlight create install-config --dir lab < /dev/null'],
  run: async (invocation) => {
    const { createAssets } = await import('../../assets/create-assets.ts');
    const { installConfig, installConfigPath } = await import('../../assets/install-config.ts');
    const { targets } = await import('../../assets/targets.ts');
    const { host, global, signal, emit } = invocation;
    const path = join(global.dir, installConfigPath);
    const isNew = (await host.files.facts(path)) === undefined;
    if (isNew && invocation.terminal.inIsTerminal) {
      const text = await newInstallConfig(invocation);
      await host.files.makeFolder(global.dir, { mode: 0o700 });
      await host.files.write(path, text, { mode: 0o600 });
    }
    const created = await createAssets({
      host,
      dir: global.dir,
      targets: targets['install-config'],
      purpose: 'create install-config',
      // That the file "was here already" is no news to a user who has just answered the questions for it.
      emit: (event) => (isNew && event.kind === 'stage-adopted' ? undefined : emit(event)),
      signal,
    });
    const config = created.value(installConfig);
    const shown = shownPath(invocation, installConfigPath);
    const size = `${masterCount(config)} masters, ${workerCount(config)} workers`;
    const text = `${shown}\n${isNew ? 'written' : 'checked'}: ${config.metadata.name}.${config.baseDomain}, ${size}\n`;
    return { data: { path, isNew, config }, text };
  },
});

type DialogueParts = Pick<Invocation, 'host' | 'terminal' | 'signal'>;

/** The text of a new install-config.yaml: by questions on a terminal, else the defaults. Writes nothing. */
export async function newInstallConfig(parts: DialogueParts): Promise<string> {
  const { defaultAnswers, inputOf } = await import('../../install-config/questions.ts');
  const { renderInstallConfig } = await import('../../install-config/render.ts');
  const { host, terminal } = parts;
  const architecture = architectureOf(host.environment.architecture);
  const isConversation = terminal.inIsTerminal && terminal.errIsTerminal;
  const answers = isConversation ? await askAll(parts) : defaultAnswers(architecture);
  return renderInstallConfig(inputOf(answers, architecture), architecture);
}

async function askAll({ host, terminal, signal }: DialogueParts): Promise<Answers> {
  const { installConfigErrors } = await import('../../install-config/errors.ts');
  const { defaultAnswers, judgeAnswer: judge, questions } = await import('../../install-config/questions.ts');
  const { findSshKeys } = await import('../../install-config/local-ssh-keys.ts');
  const architecture = architectureOf(host.environment.architecture);
  const keys = await findSshKeys(host.files, host.environment.homeFolder);
  const defaults = defaultAnswers(architecture);
  let answers = defaults;
  for (const question of questions) {
    const byDefault = question.byDefault(defaults, keys);
    terminal.err(question.preamble(keys));
    for (let isAnswered = false; !isAnswered; ) {
      const typed = await terminal.ask(`${question.text} [${byDefault}]: `, signal);
      if (typed === undefined) throw installConfigErrors.DIALOGUE_ENDED({ question: question.text });
      const judged = judge(question, typed.trim() || byDefault, { answers, keys, architecture });
      isAnswered = judged.status === 'accepted';
      if (judged.status === 'accepted') answers = judged.answers;
      else terminal.err(judged.reasons.map((reason) => `  ${reason}\n`).join(''));
    }
  }
  return answers;
}
