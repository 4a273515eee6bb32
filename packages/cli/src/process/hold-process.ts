/**
 * Keeps the process alive while it works: timers of the clock are unreferenced, and a server that waits for its cluster has nothing else.
 */
const LONGEST_INTERVAL = 2 ** 30;

export async function holdProcess<Result>(work: () => Promise<Result>): Promise<Result> {
  const hold = setInterval(() => {}, LONGEST_INTERVAL);
  try {
    return await work();
  } finally {
    clearInterval(hold);
  }
}
