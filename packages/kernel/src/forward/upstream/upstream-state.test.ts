import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextState, probePause, UNTRIED, type UpstreamEvent, type UpstreamState } from './upstream-state.ts';

const run = (events: readonly UpstreamEvent[], from: UpstreamState = UNTRIED) =>
  events.reduce(nextState, from);
const times = (count: number, event: UpstreamEvent) => Array.from({ length: count }, () => event);

describe('the state of an upstream server', () => {
  it('is silent when failures are more than losses explain, and down when probes stay without a reply too', () => {
    expect(run(times(60, 'failed'))).toEqual({ kind: 'failing', failures: 60 });
    const silent: readonly UpstreamEvent[] = ['failed', 'fell-silent'];
    expect(run(silent)).toEqual({ kind: 'silent', probes: 0 });
    expect(run([...silent, ...times(7, 'probed')]).kind).toBe('silent');
    expect(run([...silent, ...times(8, 'probed')])).toEqual({ kind: 'down', probes: 0 });
    expect(run([...silent, ...times(7, 'probed'), 'replied']).kind).toBe('well');
    expect(run(['failed', 'replied', 'fell-silent']).kind).toBe('well');
  });

  it('is down at once when the network has refused it for long, unless it loops', () => {
    for (const before of [[], ['replied'], ['failed'], ['failed', 'fell-silent']] as const)
      expect(run([...before, 'gone'])).toEqual({ kind: 'down', probes: 0 });
    expect(run(['looped', 'gone']).kind).toBe('looping');
  });

  it('is well after any reply, unless it loops', () => {
    expect(run([...times(9, 'failed'), 'replied']).kind).toBe('well');
    expect(run(['failed', 'gone', 'replied']).kind).toBe('well');
    expect(run(['looped', 'replied']).kind).toBe('looping');
    expect(run(['looped', 'failed', 'failed']).kind).toBe('looping');
    expect(run(['looped', 'loop-ended'])).toBe(UNTRIED);
  });

  it('is the same object where an event changes nothing', () => {
    const well = run(['replied']);
    expect(nextState(well, 'replied')).toBe(well);
    expect(nextState(well, 'loop-ended')).toBe(well);
  });

  it('is probed in three states, with growing pauses in two, and never in others', () => {
    const event = fc.constantFrom<UpstreamEvent>(
      ...(['replied', 'failed', 'fell-silent', 'gone', 'looped', 'probed', 'loop-ended'] as const),
    );
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 60 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (events, random) => {
          const state = run(events);
          const pause = probePause(state, random);
          expect(pause !== undefined).toBe(['silent', 'down', 'looping'].includes(state.kind));
          if (pause === undefined || state.kind === 'silent') return;
          expect(pause).toBeGreaterThanOrEqual(375);
          expect(pause).toBeLessThanOrEqual(375_000);
          expect(probePause(nextState(state, 'probed'), random)).toBeGreaterThanOrEqual(pause);
        },
      ),
    );
  });
});
