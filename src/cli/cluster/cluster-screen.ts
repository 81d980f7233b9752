// What the user sees while `create cluster` works: a redrawn frame on a terminal, a line per change on a pipe.
// Both show the same view. Notices are printed above the frame.
import { dirOption } from '../../cluster/cluster-dir.ts';
import type { CreateState } from '../../cluster/create-view.ts';
import { beginCreateState, createFrame, nextCreateState } from '../../cluster/create-view.ts';
import type { ClusterObservation } from '../../cluster/observe-cluster.ts';
import type { StallWatch } from '../../cluster/wait-for-progress.ts';
import type { Emit } from '../../workflow/events.ts';
import { frameDisplay } from '../frame/frame-display.ts';
import type { Invocation } from '../frame/verb.ts';

/** Draws until it is disposed of. */
export interface ClusterScreen extends AsyncDisposable {
  readonly onStage: Emit;
  readonly onObservation: (observed: ClusterObservation) => void;
  readonly onLikely: StallWatch['onLikely'];
  /** For events that are not about a stage. */
  readonly emit: Emit;
  readonly state: () => CreateState;
}

const drawEveryMs = 200;

export function clusterScreen(
  invocation: Pick<Invocation, 'host' | 'terminal' | 'emit' | 'global'>,
  names: readonly string[],
  title: string,
): ClusterScreen {
  const { host } = invocation;
  const now = (): number => host.clock.monotonicMs();
  const begun = beginCreateState(names, title, now());
  let state: CreateState = { ...begun, dirOption: dirOption(host, invocation.global.dir) };
  const display = frameDisplay(invocation);
  const update = (next: CreateState): void => {
    state = next;
    display.show(createFrame(state, now()));
  };
  const end = new AbortController();
  const draw = async (): Promise<void> => {
    while (!end.signal.aborted && display.isDrawn) {
      display.show(createFrame(state, now()));
      await host.clock.sleep(drawEveryMs, end.signal).catch(() => {});
    }
  };
  const drawn = draw();
  return {
    onStage: (event) => {
      // Progress is shown here; everything else also goes to the log.
      if (event.kind !== 'stage-progress') display.report(event);
      update(nextCreateState(state, event, now()));
    },
    onObservation: (observed) => update({ ...state, observed }),
    onLikely: (reason) => update({ ...state, likely: reason?.sentence }),
    emit: (event) => {
      if (event.kind !== 'stage-progress') display.report(event);
    },
    state: () => state,
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await drawn;
    },
  };
}
