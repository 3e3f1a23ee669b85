import { connect } from 'node:net'

const image = 'postgres:18-alpine'

/** Whether a Docker daemon answers: that its command is installed proves nothing. */
export async function dockerAnswers(): Promise<boolean> {
  const host = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock'
  const url = new URL(host)
  const target =
    url.protocol === 'unix:' ? { path: url.pathname } : { host: url.hostname, port: Number(url.port) }
  return new Promise((resolve) => {
    const socket = connect(target, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** A server in a container, which Docker's own reaper removes after the test run. */
export async function dockerServer(): Promise<{ readonly url: string }> {
  // Only here: the package is large, and not every machine has a Docker to use it with.
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(image)
    .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  return { url: `postgres://postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres` }
}
