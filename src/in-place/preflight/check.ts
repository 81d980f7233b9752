// What a check of preflight is: an id that people and other programs know it by, why it exists, and a pure judgement.
import type { PreflightId } from '../../contract/in-place.ts';
import type { PreflightFacts } from './facts.ts';

export type PreflightVerdict =
  | { readonly outcome: 'ok' | 'warning' | 'skipped'; readonly message: string }
  /** Permanent: the Secret or the host must change first. Others may pass when they are tried again. */
  | { readonly outcome: 'failed'; readonly isPermanent: boolean; readonly message: string };

export interface PreflightCheck {
  readonly id: PreflightId;
  readonly title: string;
  readonly why: string;
  readonly judge: (facts: PreflightFacts) => PreflightVerdict;
}

/** How a check says what it found. */
export const judged = {
  ok: (message: string): PreflightVerdict => ({ outcome: 'ok', message }),
  skipped: (message: string): PreflightVerdict => ({ outcome: 'skipped', message }),
  warning: (message: string): PreflightVerdict => ({ outcome: 'warning', message }),
  permanent: (message: string): PreflightVerdict => ({ outcome: 'failed', isPermanent: true, message }),
  transient: (message: string): PreflightVerdict => ({ outcome: 'failed', isPermanent: false, message }),
} as const;
