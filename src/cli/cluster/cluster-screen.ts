// What a person sees while `create cluster` works: on a terminal one calm frame, on a pipe a line per change. Both read
// the same view. Notices that must be said stand above the frame.
import type { CreateStory } from '../../cluster/create-view.ts';
import { beginStory, tellStory, createFrame } from '../../cluster/create-view.ts';
import type { ClusterSight } from '../../cluster/observe-cluster.ts';
import type { StallWatch } from '../../cluster/wait-for-progress.ts';
import { drawnFrame } from '../../screen/drawn-frame.ts';
import { changedLines, frameLines, type FrameView } from '../../screen/frame.ts';
import type { Emit, WorkflowEvent } from '../../workflow/events.ts';
import type { Invocation } from '../frame/verb.ts';

export interface ClusterScreen {
  readonly onStage: Emit;
  readonly onSight: (sight: ClusterSight) => void;
  readonly onLikely: StallWatch['onLikely'];
  /** For what happens below the stages. */
  readonly emit: Emit;
  readonly story: () => CreateStory;
  /** Draws until the signal is aborted; resolves then. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const drawEveryMs = 200;

export function clusterScreen(
  invocation: Pick<Invocation, 'host' | 'terminal' | 'emit' | 'global'>,
  names: readonly string[],
  title: string,
): ClusterScreen {
  const { host, terminal, global } = invocation;
  const now = (): number => host.clock.monotonicMs();
  let story = beginStory(names, title, now());
  const shows = terminal.canDraw && global.logLevel !== 'debug' ? onTerminal(invocation) : onPipe(invocation);
  const update = (next: CreateStory): void => {
    story = next;
    shows.show(createFrame(story, now()));
  };
  return {
    onStage: (event) => {
      // Progress is shown here; everything else also goes to the log.
      if (event.kind !== 'stage-progress') shows.say(event);
      update(tellStory(story, event, now()));
    },
    onSight: (sight) => update({ ...story, sight }),
    onLikely: (reason) => update({ ...story, likely: reason?.sentence }),
    emit: (event) => {
      if (event.kind !== 'stage-progress') shows.say(event);
    },
    story: () => story,
    run: async (signal) => {
      while (!signal.aborted && shows.isDrawn) {
        shows.show(createFrame(story, now()));
        await host.clock.sleep(drawEveryMs, signal).catch(() => {});
      }
    },
  };
}

interface Shows {
  readonly isDrawn: boolean;
  readonly show: (view: FrameView) => void;
  readonly say: (event: WorkflowEvent) => void;
}

function onTerminal({ terminal, emit }: Pick<Invocation, 'terminal' | 'emit'>): Shows {
  const frame = drawnFrame(terminal);
  return {
    isDrawn: true,
    show: (view) => {
      const { hasColors } = terminal;
      frame.draw(frameLines(view, { columns: terminal.columns(), rows: terminal.rows(), hasColors }));
    },
    say: (event) => {
      if (event.kind === 'notice') frame.clear();
      emit(event.kind === 'stage-adopted' ? { kind: 'stage-unchanged', stage: event.stage } : event);
    },
  };
}

function onPipe({ emit }: Pick<Invocation, 'emit'>): Shows {
  let before: FrameView | undefined;
  return {
    isDrawn: false,
    show: (view) => {
      for (const text of changedLines(before, view)) emit({ kind: 'notice', level: 'info', text });
      before = view;
    },
    say: (event) => {
      if (event.kind !== 'stage-adopted') emit(event);
    },
  };
}
