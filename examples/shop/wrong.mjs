// "Every attempt is a payment of its own, so its key has the number of the attempt." But an attempt whose reply was
// lost has charged the card, and the next one charges it again.
import { shopBench } from './shop.mjs'

export default shopBench('shop', import.meta.url, (job, attempt) => `${job.id}-${attempt.number}`)
