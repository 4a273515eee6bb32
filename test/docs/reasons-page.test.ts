/**
 * `docs/reference/reasons.md` has the vocabulary of reasons and findings: `npm run docs` writes it.
 */
import { readFileSync } from 'node:fs';
import { ALL_CHECKS } from '@portolan/server/reasons/checks/all-checks.ts';
import { NODE_CHECKS } from '@portolan/server/reasons/checks/node-checks.ts';
import { REASON_TEXTS } from '@portolan/server/reasons/reason-texts.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/reasons.md';

interface CheckNames {
  readonly kind: string;
  readonly needs: readonly string[];
}

/** The page with a text between the marks of a part. */
function withPart(page: string, part: string, text: string): string {
  const block = new RegExp(`<!-- ${part} -->\\n[\\s\\S]*?<!-- end of ${part} -->`);
  expect(page).toMatch(block);
  return page.replace(block, () => `<!-- ${part} -->\n\n${text}\n\n<!-- end of ${part} -->`);
}

/** The rows of a command: what it looks at, and what it finds there. */
function formatChecks(command: string, checks: readonly CheckNames[]): readonly string[] {
  const found = new Map<string, string[]>();
  for (const { kind, needs } of checks) {
    const evidence = needs.join(', ');
    found.set(evidence, [...(found.get(evidence) ?? []), `[${kind}](#${kind})`]);
  }
  return [...found].map(([evidence, kinds]) => `| \`${command}\` | ${evidence} | ${kinds.join(', ')} |`);
}

it('describes each reason and finding under its name', async () => {
  const sections = Object.entries(REASON_TEXTS).map(
    ([kind, { meaning, remedy }]) => `## ${kind}\n\n${meaning}\n\n${remedy}`,
  );
  const checks = [
    '| command | looks at | finds |',
    '|---|---|---|',
    ...formatChecks('doctor', ALL_CHECKS),
    ...formatChecks('doctor --on-node', NODE_CHECKS),
  ];
  const page = withPart(readFileSync(PAGE, 'utf8'), 'checks', checks.join('\n'));
  await expect(withPart(page, 'vocabulary', sections.join('\n\n'))).toMatchFileSnapshot(`../../${PAGE}`);
});
