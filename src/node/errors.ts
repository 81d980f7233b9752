// Errors that keep an agent from its duties. Most end by themselves: the agent waits and reports what is missing.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const agentErrors = errorTable('AGENT', {
  NO_IDENTITY: {
    message: (e: { path: string }) => `${e.path}, by which this machine shows who it is`,
    hint: 'A worker gets it when its certificate request was approved (kubectl get csr), a master makes it from the signers.',
    means: 'The agent has no certificate yet with which the API or etcd would let it in.',
    exit: exitCodes.infrastructure,
  },
  SETTINGS: {
    message: (e: { path: string; missing: string }) => `${e.path} does not say ${e.missing}`,
    hint: 'The file is part of the MachineConfig 00-<pool>; firstlight machine-config show <pool> prints what it should be.',
    means:
      'The agent is told by this file whether its machine is a master and where the API is. Without it nothing is safe to do.',
    exit: exitCodes.badConfig,
  },
  COMMAND: {
    message: (e: { command: string; reason: string }) => `${e.command} failed: ${e.reason || 'it gave no reason'}`,
    hint: 'Run that command on the machine.',
    means: 'A program that the agent uses to change its machine refused.',
    exit: exitCodes.infrastructure,
  },
  KEYS: {
    message: (e: { url: string; reason: string }) => `the keys of a master from ${e.url}: ${e.reason}`,
    hint: 'firstlight machine logs <bootstrap or master> --unit machine-config-server shows why it was refused. A token is good for one master and an hour; a machine made anew gets another.',
    means: 'A master asks for the signers once, with the single-use token of its own configuration.',
    exit: exitCodes.infrastructure,
  },
});
