/**
 * The real dnsmasq 2.90 and ours: the same command lines before the same upstream, the same questions, the same answers.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Both, endAllSides, hear, type Question, runBoth, type Side } from '../../dnsmasq/both.ts';
import { runKnot } from '../../dnsmasq/knot.ts';
import { type Compared, explain, KNOWN_DIFFERENCES } from '../../dnsmasq/known-differences.ts';
import { COMMAND_LINES, QUESTIONS, ZONES } from '../../dnsmasq/known-world.ts';
import { describeWithTool } from '../../support/tools.ts';

const ALONE = ['--no-resolv', '--no-hosts', '--conf-file=/dev/null'];
/** Milliseconds that dnsmasq has to answer; an upstream on loopback answers in one. To some questions it is silent. */
const DEADLINE = 1_000;
/** On a machine that is busy with other work. We are silent to none. */
const LONG_DEADLINE = 20_000;

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
        const { compared, differences } = await compareOne(words, both, question);
        if (differences === undefined) unexplained.push(compared);
        else for (const { name } of differences) met.add(name);
      }
    }
    return unexplained;
  }

  async function compareOne(words: readonly string[], both: Both, question: Question) {
    const ask = (side: Side, deadline: number) => hear(side, question, { deadline });
    const [first, ours] = await Promise.all([ask(both.real, DEADLINE), ask(both.ours, LONG_DEADLINE)]);
    const compared = { words, question, real: first, ours };
    const differences = explain(compared);
    if (differences !== undefined || first.status !== 'no answer') return { compared, differences };
    // Silent, or only slow: asked once more, with more time.
    const again = { ...compared, real: await ask(both.real, LONG_DEADLINE) };
    return { compared: again, differences: explain(again) };
  }

  it.each(COMMAND_LINES.map((words) => [words.join(' '), words] as const))(
    'portolan dnsmasq %s',
    async (_line, words) => {
      const both = await runBoth([...ALONE, ...words.map((word) => word.replaceAll('KNOT', knot))]);
      expect(await compare(words, both)).toEqual([]);
      await both.stop();
    },
    180_000,
  );

  it('differs in what the documentation says', () => {
    const text = readFileSync('docs/reference/dnsmasq.md', 'utf8');
    expect(KNOWN_DIFFERENCES.filter(({ name }) => !text.includes(`| ${name} |`))).toEqual([]);
  });

  it('differs in all that it is said to differ in', () => {
    expect(KNOWN_DIFFERENCES.map(({ name }) => name).filter((name) => !met.has(name))).toEqual([]);
  });
});
