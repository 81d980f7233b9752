// A text field with a check: a function that returns what is wrong becomes part of the zod schema, and the words for
// what is allowed go with the issue into the mistake.
import { z } from 'zod';

export interface TextRule {
  /** What is wrong with the text, as the end of a sentence ("has upper-case letters"), or undefined. */
  readonly mistake: (text: string) => string | undefined;
  readonly allowed: string;
}

export function textField(rule: TextRule): z.ZodString {
  return z.string().check((context) => {
    const wrong = rule.mistake(context.value);
    if (wrong === undefined) return;
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: wrong,
      params: { allowed: rule.allowed },
      continue: true,
    });
  });
}
