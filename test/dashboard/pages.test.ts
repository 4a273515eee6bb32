/**
 * The pages of the dashboard in a real Chromium, for a server with the example cluster and some traffic.
 */
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { encode } from 'dns-packet';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { waitUntil } from '../../src/base/testing/wait-until.ts';
import { socketOf } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { Chromium } from './chromium.ts';

const PAGES = [
  ['healthy', 'Is DNS healthy?', 'no check found a problem'],
  ['who', 'Who asks what?', '<img\\032onerror>'],
  ['fails', 'What fails, and why?', 'no-such-service'],
  ['explain?name=catr.shop.svc.cluster.local.', 'Explain a name', 'there is no service "catr"'],
  ['changes', 'What changed?', 'Nothing yet'],
  ['replicas', 'Replicas compared', 'in force'],
] as const;
const WIDTH = 360;
/** Where to write the picture of the documentation; undefined: nowhere. */
const PICTURE = process.env['DASHBOARD_PICTURE'];

/** The least contrast of all texts with the ground behind them (WCAG 2.2), and its text. */
const LEAST_CONTRAST = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => channels(colour).slice(0, 3)
    .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const isOpaque = (colour) => (channels(colour)[3] ?? 1) > 0;
  const groundOf = (element) => {
    for (let each = element; each; each = each.parentElement)
      if (isOpaque(getComputedStyle(each).backgroundColor)) return getComputedStyle(each).backgroundColor;
    return 'rgb(255, 255, 255)';
  };
  const texts = [...document.querySelectorAll('body *')].filter((each) =>
    each.checkVisibility() && [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== ''));
  return texts.map((each) => {
    const [a, b] = [luminance(getComputedStyle(each).color), luminance(groundOf(each))].sort((x, y) => y - x);
    return { contrast: (a + 0.05) / (b + 0.05), text: each.textContent.slice(0, 40) };
  }).reduce((least, each) => each.contrast < least.contrast ? each : least);
})()`;

describeWithTool('chromium', 'the dashboard in Chromium', () => {
  let browser: Chromium;
  let origin: string;
  let ask: () => void;

  beforeAll(async () => {
    const serving = await servePortolan(['--example', '--upstream=none']);
    const dashboard = runPortolan(['dashboard', `--socket=${socketOf(serving.program, 'serve')}`]);
    await waitUntil('the address', () => dashboard.output.endsWith('\n'));
    const address = dashboard.output.trim();
    origin = new URL(address).origin;
    const socket = createSocket('udp4');
    socket.unref();
    ask = () => {
      for (const name of [
        'cart.shop.svc.cluster.local',
        'catr.shop.svc.cluster.local',
        '<img onerror>.example',
      ]) {
        const query = encode({ type: 'query', id: 1, flags: 0x100, questions: [{ type: 'A', name }] });
        socket.send(query, serving.port, '127.0.0.1');
      }
    };
    browser = await Chromium.start();
    await browser.show(address);
    // Queries count from when the dashboard follows them.
    const hasTraffic = async () => {
      ask();
      expect(await traffic()).toBeGreaterThan(0);
    };
    await vi.waitFor(hasTraffic, { timeout: 30_000, interval: 200 });
  });

  afterAll(async () => {
    await browser?.end();
    await endAllPrograms();
  });

  beforeEach(() => {
    browser.complaints.length = 0;
    ask();
  });

  const text = async () => String(await browser.evaluate('document.body.innerText'));
  const go = async (page: string) =>
    void (await browser.evaluate(`location.hash = ${JSON.stringify(`#/${page}`)}`));
  const traffic = async () =>
    await browser.evaluate(`fetch('/api/state', { headers: { authorization:
      'Bearer ' + sessionStorage.getItem('portolan-token') } }).then((r) => r.json()).then((s) => s.traffic.queries)`);
  const shown = async (title: string, content: string) => {
    const options = { timeout: 10_000 };
    await expect
      .poll(async () => await browser.evaluate('document.querySelector("h1")?.textContent'), options)
      .toBe(title);
    await expect.poll(async () => (await text()).toLowerCase(), options).toContain(content.toLowerCase());
  };

  it.each(PAGES)(
    'shows %s in light and dark, and at 360 px without scrolling sideways',
    async (page, title, content) => {
      await go(page);
      for (const scheme of ['light', 'dark'] as const) {
        await browser.setScheme(scheme);
        for (const width of [1_000, WIDTH]) {
          await browser.setSize(width, 800);
          await shown(title, content);
          const overflow = await browser.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect([scheme, width, overflow]).toEqual([scheme, width, 0]);
        }
        const { contrast, text: least } = (await browser.evaluate(LEAST_CONTRAST)) as {
          contrast: number;
          text: string;
        }; // Of the expression above.
        expect(contrast, `${scheme}: ${least}`).toBeGreaterThanOrEqual(4.5);
      }
      expect(browser.complaints).toEqual([]);
    },
  );

  it('differs between light and dark', async () => {
    const grounds: unknown[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      await browser.setScheme(scheme);
      grounds.push(await browser.evaluate('getComputedStyle(document.body).backgroundColor'));
    }
    expect(new Set(grounds).size).toBe(2);
  });

  it('goes from its start to an explanation by keyboard alone', async () => {
    await go('healthy');
    await shown('Is DNS healthy?', 'Findings');
    await browser.press('/');
    await expect.poll(() => browser.evaluate('document.activeElement?.name')).toBe('name');
    for (const key of 'cart.shop.svc.cluster.local.') await browser.press(key);
    await browser.press('Enter');
    await expect
      .poll(() => browser.evaluate('document.querySelector("[data-verdict]")?.dataset.verdict'), {
        timeout: 10_000,
      })
      .toBe('resolves');
    await browser.evaluate('document.activeElement?.blur()');
    for (const [index, [, title]] of PAGES.entries()) {
      await browser.press(String(index + 1));
      await expect.poll(() => browser.evaluate('document.querySelector("h1")?.textContent')).toBe(title);
    }
    await browser.press('Tab');
    const outline = await browser.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
  });

  it('shows a label as text, whatever it holds', async () => {
    await go('who');
    await shown('Who asks what?', '<img\\032onerror>');
    expect(await browser.evaluate('document.images.length')).toBe(0);
  });

  it('draws its plot, and says it in words', async () => {
    await go('healthy');
    await expect.poll(() => browser.evaluate('document.querySelectorAll(".plot canvas").length')).toBe(1);
    const label = 'document.querySelector(".plot").getAttribute("aria-label")';
    expect(await browser.evaluate(label)).toMatch(/^Queries per second: now [\d.]+, peak [\d.]+;/);
  });

  it.runIf(PICTURE !== undefined)('is drawn for the documentation', async () => {
    await browser.setScheme('light');
    await browser.setSize(1_000, 560);
    await go('healthy');
    await shown('Is DNS healthy?', 'Findings');
    writeFileSync(String(PICTURE), await browser.screenshot());
  });

  it('asked no other origin, and took the token out of the address bar', async () => {
    expect(browser.requests.length).toBeGreaterThan(5);
    expect(browser.requests.filter((each) => !each.startsWith(`${origin}/`) && each !== 'data:,')).toEqual(
      [],
    );
    expect(await browser.evaluate('location.href')).not.toContain('token');
  });
});
