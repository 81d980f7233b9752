// The dialogue of `create install-config`: a few questions on a terminal, each with a default that Enter accepts.
// Without a terminal nothing is asked and the defaults are written.
import { architectureOf } from '../../install-config/architecture.ts';
import { installConfigErrors } from '../../install-config/errors.ts';
import { type Answers, defaultAnswers, inputOf, judge, questions } from '../../install-config/questions.ts';
import { renderInstallConfig } from '../../install-config/render.ts';
import { findSshKeys } from '../../install-config/ssh-keys-here.ts';
import type { Invocation } from '../frame/verb.ts';

type Asking = Pick<Invocation, 'host' | 'terminal' | 'signal'>;

/** The text of a new install-config.yaml. Writes nothing. */
export async function newInstallConfig(invocation: Asking): Promise<string> {
  const { host, terminal } = invocation;
  const architecture = architectureOf(host.environment.architecture);
  const isConversation = terminal.inIsTerminal && terminal.errIsTerminal;
  const answers = isConversation ? await askAll(invocation) : defaultAnswers(architecture);
  return renderInstallConfig(inputOf(answers, architecture), architecture);
}

async function askAll({ host, terminal, signal }: Asking): Promise<Answers> {
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
