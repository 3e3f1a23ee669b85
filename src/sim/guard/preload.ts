// Entry for `node --import` and for a worker's `execArgv`: guards this thread before any other module runs,
// so that nobody can keep an unguarded `Date.now` or `readFile` from earlier.
import { installLeakGuard } from './guard.ts'

installLeakGuard({ late: false })
