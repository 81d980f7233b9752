import { expect, test } from 'vitest';
import { unitFindings } from './unit-mistakes.ts';

const whole = '[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n';

test.each<[string, string, readonly string[]]>([
  ['a whole unit', whole, []],
  ['nothing at all', '', []],
  ['comments, blank lines and continuations', '# a\n; b\n\n[Service]\nExecStart=/bin/sh -c \\\n  # c\n  x\n', []],
  ['a line without =', `${whole}oops\n`, ['line 5 has no "=": "oops"']],
  ['a broken header', '[Service\nExecStart=/x\n', ['line 1 is no section header: "[Service"']],
  ['text after a header', '[Service] x\n', ['line 1 is no section header: "[Service] x"']],
  ['a directive before any section', `A=b\n${whole}`, ['line 1 stands before the first section: "A=b"']],
  ['a NUL', `${whole}A=\0\n`, ['it contains a NUL byte']],
])('%s', (_, contents, mistakes) => {
  expect(unitFindings('x.service', contents).mistakes).toEqual(mistakes);
});

test.each<[string, string, readonly string[]]>([
  ['x.service', '[Unit]\nA=b\n', ['a .service needs a section [Service]']],
  ['x.service', '[Service]\nType=simple\n', ['a .service needs ExecStart=, ExecStop= or SuccessAction=']],
  ['x.timer', '[Unit]\nA=b\n', ['a .timer needs a section [Timer]']],
  ['x.target', '[Unit]\nA=b\n', []],
])('%s with %j lacks what systemd asks of it', (name, contents, missing) => {
  expect(unitFindings(name, contents)).toEqual({ mistakes: [], missing });
});
