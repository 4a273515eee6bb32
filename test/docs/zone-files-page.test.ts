/**
 * `docs/reference/zone-files.md` lists the types with a presentation format of their own: `npm run docs` writes it.
 */
import { readFileSync } from 'node:fs';
import { PRESENTABLE_TYPES } from '@portolan/sources/zone-files/record-fields.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/zone-files.md';
const BLOCK = /<!-- types -->\n[\s\S]*?<!-- end of types -->/;

it('lists the types', async () => {
  const list = PRESENTABLE_TYPES.map((type) => `\`${type}\``).join(', ');
  const written = readFileSync(PAGE, 'utf8').replace(
    BLOCK,
    () => `<!-- types -->\n\n${list}\n\n<!-- end of types -->`,
  );
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});
