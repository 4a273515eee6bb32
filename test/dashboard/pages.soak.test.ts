/**
 * The pages of the dashboard in a real Chromium, for two servers with the example cluster and some traffic. One of them shows itself too.
 */
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { encode } from 'dns-packet';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { formatSocketName } from '../support/control.ts';
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
  ['live', 'What is asked right now?', '<img\\032onerror>'],
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
  const findBackground = (element) => {
    for (let each = element; each; each = each.parentElement)
      if (isOpaque(getComputedStyle(each).backgroundColor)) return getComputedStyle(each).backgroundColor;
    return 'rgb(255, 255, 255)';
  };
  const texts = [...document.querySelectorAll('body *')].filter((each) =>
    each.checkVisibility() && [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== ''));
  return texts.map((each) => {
    const [a, b] = [luminance(getComputedStyle(each).color), luminance(findBackground(each))].sort((x, y) => y - x);
    return { contrast: (a + 0.05) / (b + 0.05), text: each.textContent.slice(0, 40) };
  }).reduce((least, each) => each.contrast < least.contrast ? each : least);
})()`;

describeWithTool('chromium', 'the dashboard in Chromium', () => {
  let browser: Chromium;
  let origin: string;
  /** The address of the dashboard of one server. */
  let own: string;
  let ask: () => void;

  beforeAll(async () => {
    const servers = await Promise.all([
      servePortolan(['--example', '--upstream=none', '--dashboard=127.0.0.1:0']),
      servePortolan(['--example', '--upstream=none']),
    ]);
    own = String((await servers[0].program.heard('serving the dashboard'))['address']);
    const sockets = servers.map(({ program }) => `--socket=${formatSocketName(program, 'serve')}`);
    const dashboard = runPortolan(['dashboard', ...sockets]);
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
        for (const { port } of servers) socket.send(query, port, '127.0.0.1');
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
    const options = { timeout: 30_000 };
    await expect
      .poll(async () => await browser.evaluate('document.querySelector("h1")?.textContent'), options)
      .toBe(title);
    const read = async () => {
      ask();
      return (await text()).toLowerCase();
    };
    await expect.poll(read, options).toContain(content.toLowerCase());
  };
  /** The texts of the rows of the page that is shown, each with its columns in lines. */
  const rows = async () =>
    (await browser.evaluate(
      '[...document.querySelectorAll("main tbody tr")].map((row) => row.innerText.replaceAll("\\t", " "))',
    )) as readonly string[]; // Of this expression.

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

  it('shows the queries of both servers as they are asked, those that are wanted, until it pauses', async () => {
    await browser.setSize(1_000, 800);
    await go('live?rcode=NXDOMAIN&namespace=shop');
    await shown('What is asked right now?', 'Watching 2 replicas');
    await shown('What is asked right now?', 'catr.shop');
    const replicas = async () => {
      ask();
      return new Set((await rows()).map((row) => /\S+$/.exec(row)?.[0])).size;
    };
    await expect.poll(replicas).toBe(2);
    for (const row of await rows())
      expect(row).toMatch(/catr\.shop\.svc\.cluster\.local\. A\s+✗ NXDOMAIN no-such-service\s+cluster/);
    await browser.press('p');
    await expect.poll(text).toContain('Paused: nothing is watched.');
    const before = await rows();
    await browser.press('p');
    await expect
      .poll(async () => {
        ask();
        return (await rows()).length;
      })
      .toBeGreaterThan(before.length);
    await go('live?type=NOPE');
    await expect.poll(text).toContain('not a type: "NOPE"');
    // The browser itself reports the status of that reply.
    browser.complaints.length = 0;
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

  it('is served by a server for itself, to its own page alone', async () => {
    const { origin: ownOrigin, hash } = new URL(own);
    expect(ownOrigin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(hash).toMatch(/^#token=[\w-]{32}$/);
    const reply = await fetch(`${ownOrigin}/api/state`);
    expect(reply.status).toBe(401);
    const asked = browser.requests.length;
    await browser.show(own);
    await shown('Is DNS healthy?', '1 replica ·');
    await go('live');
    await shown('What is asked right now?', 'cart.shop');
    await go('explain?name=cart.shop.svc.cluster.local.');
    await shown('Explain a name', 'resolves to');
    const addresses = browser.requests.slice(asked);
    expect(addresses.filter((each) => !each.startsWith(`${ownOrigin}/`) && each !== 'data:,')).toEqual([]);
    browser.requests.length = asked;
    expect(browser.complaints).toEqual([]);
    await browser.show(`${origin}/#/healthy`);
    await shown('Is DNS healthy?', '2 replicas ·');
  });

  it('asked no other origin, and took the token out of the address bar', async () => {
    expect(browser.requests.length).toBeGreaterThan(5);
    expect(browser.requests.filter((each) => !each.startsWith(`${origin}/`) && each !== 'data:,')).toEqual(
      [],
    );
    expect(await browser.evaluate('location.href')).not.toContain('token');
  });
});
