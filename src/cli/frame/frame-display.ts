// Where the view of a long command is shown: redrawn in place on a terminal, as a line per change on a pipe.
import { drawnFrame } from '../../screen/drawn-frame.ts';
import { changedLines, type FrameView, frameLines } from '../../screen/frame.ts';
import type { WorkflowEvent } from '../../workflow/events.ts';
import type { Invocation } from './verb.ts';

export interface FrameDisplay {
  readonly isDrawn: boolean;
  readonly show: (view: FrameView) => void;
  readonly report: (event: WorkflowEvent) => void;
}

export function frameDisplay(invocation: Pick<Invocation, 'terminal' | 'emit' | 'global'>): FrameDisplay {
  const { terminal, global } = invocation;
  return terminal.canDraw && global.logLevel !== 'debug' ? terminalDisplay(invocation) : pipeDisplay(invocation);
}

function terminalDisplay({ terminal, emit }: Pick<Invocation, 'terminal' | 'emit'>): FrameDisplay {
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

function pipeDisplay({ emit }: Pick<Invocation, 'emit'>): FrameDisplay {
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
