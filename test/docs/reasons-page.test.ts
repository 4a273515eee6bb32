/**
 * `docs/reference/reasons.md` has the vocabulary of reasons and findings: `npm run docs` writes it.
 */
import { readFileSync } from 'node:fs';
import { ALL_CHECKS } from '@portolan/server/reasons/checks/all-checks.ts';
import { NODE_CHECKS } from '@portolan/server/reasons/checks/node-checks.ts';
import { REASON_TEXTS } from '@portolan/server/reasons/reason-texts.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/reasons.md';
const BLOCK = /<!-- vocabulary -->\n[\s\S]*?<!-- end of vocabulary -->/;

it('describes each reason and finding under its name', async () => {
  const ofServer = ALL_CHECKS.map(({ kind, needs }) => ['portolan doctor', kind, needs] as const);
  const ofNode = NODE_CHECKS.map(({ kind, needs }) => ['portolan doctor --on-node', kind, needs] as const);
  const checks = new Map(
    [...ofServer, ...ofNode].map(([command, kind, needs]) => [
      kind as string,
      `\n\n\`${command}\` finds it. It looks at: ${needs.join(', ')}.`,
    ]),
  );
  const sections = Object.entries(REASON_TEXTS).map(([kind, { meaning, remedy }]) => {
    return `## ${kind}\n\n${meaning}\n\n${remedy}${checks.get(kind) ?? ''}\n`;
  });
  const written = readFileSync(PAGE, 'utf8').replace(
    BLOCK,
    () => `<!-- vocabulary -->\n\n${sections.join('\n')}\n<!-- end of vocabulary -->`,
  );
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});
