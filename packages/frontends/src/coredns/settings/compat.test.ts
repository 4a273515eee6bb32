import { ALL_RESTORED, findLeavers, type RestorableId } from '@portolan/kernel/deviations/table.ts';
import { describe, expect, it } from 'vitest';
import { parseCompat } from './compat.ts';

function without(...kept: readonly RestorableId[]): ReadonlySet<RestorableId> {
  return new Set([...ALL_RESTORED].filter((id) => !kept.includes(id)));
}

describe('the value of -compat', () => {
  it.each([
    ['1.13', '1.13', ALL_RESTORED],
    ['1.14', '1.14', ALL_RESTORED],
    ['1.14,-forward-equal-questions', '1.14', without('forward-equal-questions')],
    ['-own-query,1.13,-negative-ttl', '1.13', without('own-query', 'negative-ttl')],
    ['forward-equal-questions', '1.14', new Set(['forward-equal-questions'])],
    ['own-query,name-exists', '1.14', new Set(['own-query', 'name-exists'])],
    ['cluster-in-cache', '1.14', new Set(['cluster-in-cache'])],
    [
      `1.14,${findLeavers('names')
        .map((id) => `-${id}`)
        .join(',')}`,
      '1.14',
      without(...findLeavers('names')),
    ],
  ] as const)('%s restores what it names', (text, profile, restored) => {
    expect(parseCompat(text)).toEqual({ kind: 'good', value: { profile, restored } });
  });

  it.each([
    ['1.12', 'not a version of CoreDNS that is known: "1.12"', 'Name 1.13 or 1.14.'],
    ['1.14,', 'has an empty word', 'Take the comma or dash out, or name a deviation.'],
    ['', 'has an empty word', 'name a deviation.'],
    ['-1.14', 'has a dash before a version: -1.14', 'Name 1.13 or 1.14 without a dash.'],
    ['1.14,-1.12', 'has a dash before a version: -1.12', 'Name 1.13 or 1.14 without a dash.'],
    ['1.14,1.13', 'names two versions: 1.14, 1.13', 'Name one.'],
    [
      'forward-equal-question',
      'not a deviation: forward-equal-question',
      'Did you mean forward-equal-questions?',
    ],
    ['1.14,-own-querry', 'not a deviation: own-querry', 'Did you mean own-query?'],
    ['xyzzy', 'not a deviation: xyzzy', 'portolan corefile check --compat=1.14 lists'],
    [
      '-own-query',
      'keeps a deviation that nothing restores: -own-query',
      'Name a version too, as in 1.14,-own-query.',
    ],
    ['1.14,own-query', 'names a deviation that 1.14 restores: own-query', 'Write -own-query to keep it.'],
    ['whole-reply', 'whole-reply has no switch of its own', 'It goes with own-query: write own-query.'],
    [
      '1.14,-whole-reply',
      'whole-reply has no switch of its own',
      'It goes with own-query: write -own-query.',
    ],
    ['slices-counted-once', 'slices-counted-once has no switch', 'Take it out.'],
    ['kube-dns-name-exists', 'kube-dns-name-exists concerns kube-dns', 'Take it out.'],
    [
      '1.14,-cluster-in-cache,-name-exists',
      'keeps a deviation that others restore too: -cluster-in-cache',
      'Keep these too: add -type-has-no-say,',
    ],
  ])('%s is refused with what to write instead', (text, fault, remedy) => {
    const reading = parseCompat(text);
    if (reading.kind !== 'bad') throw new Error(text);
    expect(reading.fault).toBe(fault);
    expect(reading.remedy).toContain(remedy);
  });
});
