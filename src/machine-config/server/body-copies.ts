// Bodies that differ in one short text. A few copies of the body go round: each is in one answer at a time, gets that
// answer's text written into its gap, and comes back when nothing looks at it any more. When all are under way an answer
// is sent in three pieces, of which two are shared: slow clients cost no memory.
export interface FilledBody {
  readonly body: readonly Uint8Array[];
  readonly release: () => void;
}

export interface BodyWithGap {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly length: number;
  /** Of all copies together. */
  readonly mostBytes: number;
}

/** The text must be as long as the gap. */
export function bodyCopies({ before, after, length, mostBytes }: BodyWithGap): (text: string) => FilledBody {
  const bytes = before.length + length + after.length;
  const most = Math.floor(mostBytes / bytes);
  const free: Copy[] = [];
  let made = 0;
  return (text) => {
    let copy = free.pop();
    if (copy === undefined && made < most) {
      made += 1;
      copy = makeCopy(Buffer.concat([before, Buffer.alloc(length), after], bytes), free);
    }
    if (copy === undefined) return { body: [before, Buffer.from(text, 'latin1'), after], release: () => {} };
    copy.isUnderWay = true;
    copy.buffer.write(text, before.length, length, 'latin1');
    return copy;
  };
}

interface Copy extends FilledBody {
  readonly buffer: Buffer;
  isUnderWay: boolean;
}

function makeCopy(buffer: Buffer, free: Copy[]): Copy {
  const copy: Copy = {
    buffer,
    body: [buffer],
    isUnderWay: false,
    // Once per answer, whoever calls it how often: a copy that is free twice would be in two answers.
    release: () => {
      if (!copy.isUnderWay) return;
      copy.isUnderWay = false;
      free.push(copy);
    },
  };
  return copy;
}
