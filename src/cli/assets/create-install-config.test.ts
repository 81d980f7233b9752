import { describe, expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { Terminal } from '../../host/terminal.ts';
import { defaultInstallConfig, parseInstallConfig } from '../../install-config/parse.ts';
import { newInstallConfig } from './create-install-config.ts';

const ed25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOh51+UGoKFDLzeV7kvGAbWOefHftCR/T4rAGya2WZ3e core@example';

/** A person who types these lines and then closes the input. */
function person(...lines: readonly string[]): Terminal & { readonly screen: () => string } {
  let seen = '';
  const left = [...lines];
  return {
    out: (text) => void (seen += text),
    err: (text) => void (seen += text),
    draw: () => {},
    outContent: (content) => void (seen += content),
    outIsTerminal: true,
    errIsTerminal: true,
    inIsTerminal: true,
    hasColors: false,
    columns: () => 80,
    rows: () => 24,
    canDraw: true,
    ask: async (question) => {
      const typed = left.shift();
      seen += `${question}${typed ?? ''}\n`;
      return typed;
    },
    screen: () => seen,
  };
}

async function hostWithKeys(keys: Readonly<Record<string, string>>) {
  const host = fakeHost();
  await host.files.makeFolder('/home/core/.ssh');
  for (const [name, text] of Object.entries(keys)) await host.files.write(`/home/core/.ssh/${name}`, text);
  return host;
}

async function ask(terminal: Terminal, keys: Readonly<Record<string, string>> = {}) {
  const { signal } = new AbortController();
  const text = await newInstallConfig({ host: await hostWithKeys(keys), terminal, signal });
  return parseInstallConfig(text, { file: 'install-config.yaml', architecture: 'amd64' }).config;
}

describe('the dialogue of create install-config', () => {
  test('Enter five times gives the default cluster and the SSH key of this machine', async () => {
    const keys = { 'id_rsa.pub': 'nonsense', 'id_ed25519.pub': `${ed25519}\n`, id_ed25519: 'never read' };
    const terminal = person('', '', '', '', '');
    expect(await ask(terminal, keys)).toEqual({ ...defaultInstallConfig('amd64'), sshKey: ed25519 });
    expect(terminal.screen()).toBe(`\
Name of the cluster [demo]: 
Domain it lives in [firstlight.test]: 
Masters (1, 3, 5 or 7) [3]: 
Workers [1]: 
  1  id_ed25519.pub  core@example
SSH key for logging in to machines: a number from above, a public key, or none [1]: 
`);
  });

  test('without a key on this machine, none is the default', async () => {
    expect(await ask(person('', '', '', '', ''))).toEqual(defaultInstallConfig('amd64'));
  });

  test('an answer that the file could not have is refused with the reason and asked again', async () => {
    const terminal = person('Demo', 'two', '', '2', 'many', '5', '-1', '0', '7', ed25519);
    const config = await ask(terminal);
    expect(config).toMatchObject({
      metadata: { name: 'two' },
      controlPlane: { replicas: 5 },
      compute: [{ replicas: 0 }],
      sshKey: ed25519,
    });
    expect(terminal.screen()).toContain('  metadata.name "Demo" has upper-case letters; allowed: ');
    expect(terminal.screen()).toContain('the loss of either stops the cluster; allowed: 1, 3, 5, 7\n');
    expect(terminal.screen()).toContain('  controlPlane.replicas "many" is text and must be a number');
    expect(terminal.screen()).toContain('  sshKey "7" does not begin with a type of SSH public key');
  });

  test('an input that ends early writes nothing', async () => {
    await expect(ask(person('a'))).rejects.toMatchObject({ code: 'INSTALLCONFIG_DIALOGUE_ENDED', exit: 8 });
  });

  test('without a terminal nothing is asked', async () => {
    const terminal = { ...person(), inIsTerminal: false };
    expect(await ask(terminal, { 'id_ed25519.pub': ed25519 })).toEqual(defaultInstallConfig('amd64'));
    expect(terminal.screen()).toBe('');
  });
});
