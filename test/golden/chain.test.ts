import { describe, expect, it } from 'vitest';
import { typeOf } from '../../src/wire/mnemonics.ts';
import { AskableCluster, goldenObjects, question } from './golden-cluster.ts';
import { comparable, readRecorded, recordMessage } from './recorded-answer.ts';
import { writeFileSync } from 'node:fs';

describe.each(['coredns', 'kube-dns'] as const)('%s', (dialect) => {
  it('x', async () => {
    const c = new AskableCluster(dialect);
    c.list(goldenObjects());
    const out: string[] = [];
    for (const r of readRecorded(`${dialect}.json`)) {
      if (r.rcode === 'TIMEOUT') { out.push(`TIMEOUT ${r.name}`); continue; }
      const m = comparable(recordMessage(await c.askChain(question(r.name, typeOf(r.type) ?? 0))));
      const w = comparable(r);
      if (JSON.stringify(m) !== JSON.stringify(w)) out.push(`${r.name} ${r.type}\n   want ${JSON.stringify(w)}\n   got  ${JSON.stringify(m)}`);
    }
    writeFileSync(`/tmp/diff-${dialect}.txt`, out.join('\n'));
    expect(1).toBe(1);
  });
});
