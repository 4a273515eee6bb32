/**
 * The files of the chart, the alerts, their runbook page and the dashboards are those that their tables make. `npm run docs` writes them.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { schemaFile, valuesFile, valuesTable } from '../../scripts/generate/chart/chart-files.ts';
import { ALERTS } from '../../scripts/generate/monitoring/alerts.ts';
import { DASHBOARDS, dashboardFile } from '../../scripts/generate/monitoring/dashboards.ts';
import { RUNBOOK_PAGE, rulesFile, runbookPage } from '../../scripts/generate/monitoring/rules-file.ts';

const CHART = '../../deploy/chart';
const README = 'deploy/chart/README.md';

it('writes the values of the chart and their schema', async () => {
  await expect(valuesFile()).toMatchFileSnapshot(`${CHART}/values.yaml`);
  await expect(schemaFile()).toMatchFileSnapshot(`${CHART}/values.schema.json`);
});

it("writes the table of the chart's values", async () => {
  const page = readFileSync(README, 'utf8');
  const written = page.replace(
    /<!-- values -->[\s\S]*<!-- end of values -->/,
    () => `<!-- values -->\n\n${valuesTable()}\n<!-- end of values -->`,
  );
  await expect(written).toMatchFileSnapshot(`../../${README}`);
});

it('writes the rules, and a section of the runbook page for each alert', async () => {
  await expect(rulesFile()).toMatchFileSnapshot(`${CHART}/rules/portolan.rules.yaml`);
  await expect(runbookPage()).toMatchFileSnapshot(`../../${RUNBOOK_PAGE}`);
  const headings = [...readFileSync(RUNBOOK_PAGE, 'utf8').matchAll(/^## (Portolan\w+)$/gm)];
  expect(headings.map(([, name]) => name).sort()).toEqual(ALERTS.map(({ name }) => name).sort());
});

it('writes the dashboards', async () => {
  for (const dashboard of DASHBOARDS)
    await expect(dashboardFile(dashboard)).toMatchFileSnapshot(`${CHART}/dashboards/${dashboard.name}.json`);
});
