// Failures of the machine itself: files, programs, network, D-Bus, ports.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import type { NetworkFailure } from './network.ts';

export const hostErrors = errorTable('HOST', {
  FILE: {
    message: (e: { path: string; action: string; reason: string }) => `cannot ${e.action} ${e.path}: ${e.reason}`,
    hint: 'Check the permissions, the free space and the mount options of that folder, then run the same command again.',
    means: 'The operating system refused a file operation. Nothing was half-written: every write is a rename.',
    exit: exitCodes.infrastructure,
  },
  PROGRAM_MISSING: {
    message: (e: { program: string }) => `the program ${e.program} is not installed`,
    hint: (e: { program: string }) => `Install the package that provides ${e.program}; firstlight doctor names it.`,
    means: 'A program that this step runs is not on the PATH.',
    exit: exitCodes.infrastructure,
  },
  NETWORK: {
    message: (e: { target: string; failure: NetworkFailure; reason: string }) => `${e.target}: ${e.reason}`,
    hint: 'Check the name, the port and the certificate authority named above.',
    means: 'A connection could not be made or broke. The details say whether it was DNS, a refusal, a timeout or TLS.',
    exit: exitCodes.infrastructure,
  },
  BUS: {
    message: (e: { target: string; errorName: string; reason: string }) => `D-Bus, ${e.target}: ${e.reason}`,
    hint: 'busctl list shows who is on the system bus; journalctl -u dbus says why it does not answer.',
    means: 'A D-Bus connection or call failed. The details carry the name of the D-Bus error.',
    exit: exitCodes.infrastructure,
  },
  LISTEN: {
    message: (e: { address: string; port: number; reason: string }) =>
      `cannot listen on ${e.address} port ${e.port}: ${e.reason}`,
    hint: (e: { port: number }) => `ss -ltnp 'sport = :${e.port}' shows who has the port.`,
    means: 'Another program has the port, or the address is not one of this machine, or the port needs more rights.',
    exit: exitCodes.infrastructure,
  },
});
