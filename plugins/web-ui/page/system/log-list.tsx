// The lines of a log: only those on the screen are there, whatever their number. At its end the list follows what is new.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type UIEvent, useLayoutEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { shownText } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { LogLine } from './log-lines.js';

/** What the height of a line is before it is measured. */
const USUAL_HEIGHT = 20;
const NEAR = 8;
/** A line of the log can have 64 KiB; copies have it whole. */
const LONGEST_SHOWN = 2_000;

export function LogList({ lines, label }: { lines: readonly LogLine[]; label: string }) {
  const { say } = useReader();
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const before = useRef(0);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => USUAL_HEIGHT,
    getItemKey: (index) => lines[index]?.id ?? index,
    overscan: 10,
    useFlushSync: false,
  });
  const height = rows.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever lines come or are measured
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && isFollowing) box.scrollTop = box.scrollHeight;
  }, [height, lines, isFollowing]);
  /** Only the reader scrolls back; lines that are measured move the end, too. */
  const onScroll = ({ currentTarget }: UIEvent<HTMLDivElement>): void => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - NEAR;
    if (isAtEnd) setFollowing(true);
    else if (scrollTop < before.current - 1) setFollowing(false);
    before.current = scrollTop;
  };
  return (
    <div className="log-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keys */}
      <section className="log" ref={scroller} tabIndex={0} aria-label={label} onScroll={onScroll}>
        <div className="log-rows" style={{ height }}>
          {rows.getVirtualItems().map(({ key, index, start }) => (
            <div
              key={key}
              ref={rows.measureElement}
              className="log-line"
              data-index={index}
              data-level={lines[index]?.level}
              dir="ltr"
              style={{ transform: `translateY(${start}px)` }}
            >
              {lines[index]?.leftOut !== undefined && (
                <em>{say('logs.leftOut', { count: lines[index].leftOut })}</em>
              )}
              {lines[index]?.parts.map((part, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line do not move
                <bdi key={place}>{shownText(part, LONGEST_SHOWN)} </bdi>
              ))}
            </div>
          ))}
        </div>
      </section>
      {!isFollowing && (
        <Button className="button small log-end" onPress={() => setFollowing(true)}>
          {say('logs.toEnd')}
        </Button>
      )}
    </div>
  );
}
