import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { explainStage } from './explain-stage.ts';

test('a stage has the command of the original and the variable that names what renders it', async () => {
  const { text } = await explainStage(fakeHost(), '11');
  expect(text).toContain('11 ingress\n');
  expect(text).toContain('INGRESS_OPERATOR_IMAGE');
  expect(text).toContain('/usr/bin/ingress-operator render');
});

test('without a name all fifteen are listed, those that render and those that start', async () => {
  const lines = (await explainStage(fakeHost(), undefined)).text.trimEnd().split('\n');
  expect(lines).toHaveLength(15);
  expect(lines.filter((line) => line.includes('it starts what others rendered'))).toHaveLength(3);
});

test('a name that is nearly right is met with the right one', async () => {
  await expect(explainStage(fakeHost(), 'ingres')).rejects.toThrow('did you mean ingress?');
});
