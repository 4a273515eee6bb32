// Prints "PASSED FAILED" over the JSON reports of several runs of vitest. A run that did not finish counts as one failure, as does a
// file that failed outside of its tests. Standard error has what failed, each with the start of its message, and which files took longest.
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

/** Lines of a failure's message that are shown. */
const MAX_MESSAGE_LINES = 12;
/** Files of a run whose time is shown. */
const MAX_SLOW_FILES = 10;

function tell(report, file, test, message = '') {
  const lines = message.split('\n').filter((line) => !line.includes('/node_modules/'));
  console.error(
    [`FAILED in ${basename(report, '.json')}: ${file}${test}`, ...lines.slice(0, MAX_MESSAGE_LINES)].join(
      '\n  ',
    ),
  );
}

/** Failures of one file of a run: its failed tests, or the file itself if it failed outside of them. */
function tellFailures(report, suite) {
  const file = relative(process.cwd(), suite.name);
  const failed = suite.assertionResults.filter((test) => test.status === 'failed');
  for (const test of failed) {
    tell(report, file, ` > ${test.fullName}`, test.failureMessages.join('\n'));
  }
  if (suite.status !== 'failed' || failed.length > 0) {
    return failed.length;
  }
  tell(report, file, '', suite.message);
  return 1;
}

function tellLongest(report, { testResults }) {
  const slow = testResults
    .map(({ name, startTime, endTime }) => ({
      file: relative(process.cwd(), name),
      seconds: (endTime - startTime) / 1000,
    }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, MAX_SLOW_FILES);
  const lines = slow.map(({ file, seconds }) => `${seconds.toFixed(0)} s ${file}`);
  console.error([`longest in ${basename(report, '.json')}:`, ...lines].join('\n  '));
}

function count(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    tellLongest(file, report);
    const failed = report.testResults.reduce((total, suite) => total + tellFailures(file, suite), 0);
    if (!report.success && failed === 0) {
      tell(file, 'the run failed outside of its tests', '');
      return { passed: report.numPassedTests, failed: 1 };
    }
    return { passed: report.numPassedTests, failed };
  } catch (error) {
    tell(file, 'the run left no report', '', String(error));
    return { passed: 0, failed: 1 };
  }
}

const counts = process.argv.slice(2).map(count);
const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
console.log(sum('passed'), sum('failed'));
