// An order is one payment, however many attempts it takes: its id is the key.
import { shopBench } from './shop.mjs'

export default shopBench('shop', import.meta.url, (job) => job.id)
