/**
 * A real Chromium without a window, driven over its pipe by the DevTools protocol.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

type Fields = Readonly<Record<string, unknown>>;

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Error) => void;
}

/** One tab, and all that it requested and complained about. */
export class Chromium {
  readonly #process: ChildProcess;
  readonly #input: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #folder: string;
  #session: string | undefined;
  #requested = 0;
  /** Addresses of all requests. */
  readonly requests: string[] = [];
  /** Errors of scripts, and messages of the console about errors: breaches of the policy are among them. */
  readonly complaints: string[] = [];

  private constructor(process: ChildProcess, folder: string) {
    this.#process = process;
    this.#folder = folder;
    // Descriptors 3 and 4, opened below.
    this.#input = process.stdio[3] as Writable;
    const output = process.stdio[4] as Readable;
    let text = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const messages = text.split('\0');
      text = messages.pop() ?? '';
      for (const message of messages) this.#take(JSON.parse(message) as Fields); // Chromium's own.
    });
    this.#input.on('error', () => {});
    process.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('chromium ended'));
    });
  }

  static async start(): Promise<Chromium> {
    // Tests share one browser, so its folder outlives each of them.
    const path = mkdtempSync(join(tmpdir(), 'portolan-chromium-'));
    const words = ['--headless=new', '--remote-debugging-pipe', '--disable-gpu', '--no-first-run'];
    const quiet = [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-dev-shm-usage',
    ];
    // Root has no sandbox; the page is our own.
    const all = [...words, ...quiet, '--no-sandbox', `--user-data-dir=${path}`, 'about:blank'];
    const child = spawn('chromium', all, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: path },
    });
    const browser = new Chromium(child, path);
    await browser.#attach();
    return browser;
  }

  /** To the tab that is open at the start. */
  async #attach(): Promise<void> {
    const { targetInfos } = await this.#send('Target.getTargets');
    const tabs = targetInfos as readonly { type: string; targetId: string }[]; // As the protocol says.
    const targetId = tabs.find(({ type }) => type === 'page')?.targetId;
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await this.#send(`${domain}.enable`);
  }

  async show(address: string): Promise<void> {
    await this.#send('Page.navigate', { url: address });
  }

  /** The value of an expression, which is JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', options);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as Fields)['value']; // As the protocol says.
  }

  /** Presses and releases a key: a character, Enter or Tab. */
  async press(key: string): Promise<void> {
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const codes: Readonly<Record<string, number>> = { Enter: 13, Tab: 9 };
    const event = { key, windowsVirtualKeyCode: codes[key] ?? 0 };
    await this.#send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...(text && { text }) });
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async setSize(width: number, height: number): Promise<void> {
    const size = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#send('Emulation.setDeviceMetricsOverride', size);
  }

  async setScheme(scheme: 'dark' | 'light'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** Of what is visible, as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #send(method: string, params: Fields = {}): Promise<Fields> {
    this.#requested += 1;
    const id = this.#requested;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#input.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    });
  }

  #take({ id, result, error, method, params = {} }: Fields): void {
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (error !== undefined) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result as Fields); // As the protocol says.
    const told = params as Fields;
    if (method === 'Network.requestWillBeSent')
      this.requests.push(String((told['request'] as Fields)['url']));
    if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(told));
    if (method === 'Log.entryAdded' && (told['entry'] as Fields)['level'] === 'error')
      this.complaints.push(JSON.stringify(told));
    if (method === 'Runtime.consoleAPICalled' && told['type'] === 'error')
      this.complaints.push(JSON.stringify(told));
  }
}
