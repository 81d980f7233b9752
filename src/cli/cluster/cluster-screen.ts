// What the user sees while `create cluster` works: a redrawn frame on a terminal, a line per change on a pipe.
// Both show the same view. Notices are printed above the frame.
import type { CreateState } from '../../cluster/create-view.ts';
import { beginCreateState, createFrame, nextCreateState } from '../../cluster/create-view.ts';
import type { ClusterObservation } from '../../cluster/observe-cluster.ts';
import type { StallWatch } from '../../cluster/wait-for-progress.ts';
import { drawnFrame } from '../../screen/drawn-frame.ts';
import { changedLines, type FrameView, frameLines } from '../../screen/frame.ts';
import type { Emit, WorkflowEvent } from '../../workflow/events.ts';
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
  const { host, terminal, global } = invocation;
  const now = (): number => host.clock.monotonicMs();
  let state = beginCreateState(names, title, now());
  const display =
    terminal.canDraw && global.logLevel !== 'debug' ? terminalDisplay(invocation) : pipeDisplay(invocation);
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

interface Display {
  readonly isDrawn: boolean;
  readonly show: (view: FrameView) => void;
  readonly report: (event: WorkflowEvent) => void;
}

function terminalDisplay({ terminal, emit }: Pick<Invocation, 'terminal' | 'emit'>): Display {
  const frame = drawnFrame(terminal);
  return {
    isDrawn: true,
    show: (view) => {
      const { hasColors } = terminal;
      frame.draw(frameLines(view, { columns: terminal.columns(), rows: terminal.rows(), hasColors }));
    },
    report: (event) => {
      if (event.kind === 'notice') frame.clear();
      emit(event.kind === 'stage-adopted' ? { kind: 'stage-unchanged', stage: event.stage } : event);
    },
  };
}

function pipeDisplay({ emit }: Pick<Invocation, 'emit'>): Display {
  let before: FrameView | undefined;
  return {
    isDrawn: false,
    show: (view) => {
      for (const text of changedLines(before, view)) emit({ kind: 'notice', level: 'info', text });
      before = view;
    },
    report: (event) => {
      if (event.kind !== 'stage-adopted') emit(event);
    },
  };
}
