export { type About, about } from '../sim/bench/about.ts'
