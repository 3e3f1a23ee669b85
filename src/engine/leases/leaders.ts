import type { ExclusiveParts } from './exclusive.ts'
import { type Campaign, type Post, startCampaign } from './leader.ts'

/** What `engine.lead` answers. */
export interface Leadership {
  readonly leading: boolean
  /** Steps down for good: asks the work to end, waits for it, and gives the lease back. Repeated calls are one. */
  stop(): Promise<void>
}

/** What one engine leads, or would like to: campaigns run from each of its starts to the stop that follows. */
export interface Leaders {
  add(post: Post): Leadership
  start(): void
  /** Resolves when all have stepped down. */
  stop(): Promise<void>
  /** The keys of what it leads now. */
  leads(): string[]
  /** How many there are to strive for. */
  readonly posts: number
}

export interface LeadersParts extends ExclusiveParts {
  /** A name that no other term of office has. */
  readonly newOwner: () => string
  /** How long work that was asked to end is waited for. */
  readonly graceMs: number
}

export function createLeaders(parts: LeadersParts): Leaders {
  /** Null: not campaigning, since the engine does not run. */
  const posts = new Map<Post, Campaign | null>()
  let running = false

  async function stepDown(post: Post): Promise<void> {
    const campaign = posts.get(post)
    await campaign?.stop()
    if (posts.get(post) === campaign) posts.set(post, null)
  }

  return {
    add: (given) => {
      // A post of its own, though the same be given twice.
      const post = { ...given }
      let retired: Campaign | null = null
      posts.set(post, running ? startCampaign(parts, post) : null)
      return {
        get leading() {
          return posts.get(post)?.leading ?? false
        },
        stop: async () => {
          const campaign = posts.get(post)
          retired = campaign ?? retired
          posts.delete(post)
          await retired?.stop()
        },
      }
    },
    start: () => {
      running = true
      for (const post of posts.keys()) posts.set(post, startCampaign(parts, post))
    },
    stop: async () => {
      running = false
      await Promise.all([...posts.keys()].map(stepDown))
    },
    get posts() {
      return posts.size
    },
    leads: () => [...posts].filter(([, campaign]) => campaign?.leading).map(([{ key }]) => key),
  }
}
