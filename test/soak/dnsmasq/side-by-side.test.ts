/**
 * The real dnsmasq 2.90 and ours: the same command lines before the same upstream, the same questions, the same answers.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Both, endAllSides, hear, runBoth } from '../../dnsmasq/both.ts';
import { runKnot } from '../../dnsmasq/knot.ts';
import { type Compared, explain, KNOWN_DIFFERENCES } from '../../dnsmasq/known-differences.ts';
import { COMMAND_LINES, QUESTIONS, ZONES } from '../../dnsmasq/known-world.ts';
import { describeWithTool } from '../../support/tools.ts';

const ALONE = ['--no-resolv', '--no-hosts', '--conf-file=/dev/null'];
/** Milliseconds; an upstream on loopback answers in one. */
const DEADLINE = 1_000;

describeWithTool(['dnsmasq', 'knotd'], 'side by side', () => {
  const ends: (() => Promise<void>)[] = [];
  const met = new Set<string>();
  let knot = '';

  beforeAll(async () => {
    const { port } = await runKnot(ZONES, (end) => ends.unshift(end));
    knot = `127.0.0.1#${port}`;
  });
  afterAll(async () => {
    await endAllSides();
    for (const end of ends) await end();
  });

  /** Everything that is answered otherwise and not known to be. */
  async function compare(words: readonly string[], both: Both): Promise<readonly Compared[]> {
    const unexplained: Compared[] = [];
    for (const question of QUESTIONS) {
      // The second time the answer comes from the cache, if it comes from there at all.
      for (let turn = 1; turn <= 2; turn += 1) {
        const [real, ours] = await Promise.all(
          [both.real, both.ours].map((side) => hear(side, question, { deadline: DEADLINE })),
        );
        if (real === undefined || ours === undefined) throw new Error('two sides were asked');
        const differences = explain({ words, question, real, ours });
        if (differences === undefined) unexplained.push({ words, question, real, ours });
        else for (const { name } of differences) met.add(name);
      }
    }
    return unexplained;
  }

  it.each(COMMAND_LINES.map((words) => [words.join(' '), words] as const))(
    'portolan dnsmasq %s',
    async (_line, words) => {
      const both = await runBoth([...ALONE, ...words.map((word) => word.replaceAll('KNOT', knot))]);
      expect(await compare(words, both)).toEqual([]);
      await both.stop();
    },
    60_000,
  );

  it('differs in what the documentation says', () => {
    const text = readFileSync('docs/reference/dnsmasq.md', 'utf8');
    expect(KNOWN_DIFFERENCES.filter(({ name }) => !text.includes(`| ${name} |`))).toEqual([]);
  });

  it('differs in all that it is said to differ in', () => {
    expect(KNOWN_DIFFERENCES.map(({ name }) => name).filter((name) => !met.has(name))).toEqual([]);
  });
});
