// How the embedded PostgreSQL is set: as durable as PostgreSQL can be, sized for a developer's machine, and quiet
// when nobody asks it anything. Written at every start, so that an update of the package brings its settings along.

const MB = 1024 * 1024;

/** The text of tuntas.conf, for a machine with this much memory. */
export function settingsText(memoryBytes: number, platform: NodeJS.Platform): string {
  const lines = Object.entries(settings(memoryBytes, platform)).map(
    ([name, value]) => `${name} = '${value}'`,
  );
  return `# Written by Tuntas at every start.\n${lines.join("\n")}\n`;
}

function settings(memoryBytes: number, platform: NodeJS.Platform): Record<string, string> {
  const memoryMb = Math.floor(memoryBytes / MB);
  return {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    // Nothing that was committed is lost, whatever loses its power.
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    shared_buffers: `${Math.min(256, Math.max(32, Math.floor(memoryMb / 16)))}MB`,
    effective_cache_size: `${Math.max(64, Math.floor(memoryMb / 2))}MB`,
    wal_compression: "on",
    wal_buffers: "16MB",
    max_wal_size: "2GB",
    min_wal_size: "256MB",
    checkpoint_timeout: "15min",
    // Short transactions only: compiling a plan costs more than it saves, and the disks are solid state.
    jit: "off",
    random_page_cost: "1.1",
    // Reading through I/O workers brings nothing for data that is in memory, and three idle processes.
    io_method: "sync",
    // Queues turn whole tables over; a worker every 10 s costs an idle machine about 0.1 % of one core.
    autovacuum_naptime: "10s",
    autovacuum_vacuum_scale_factor: "0.05",
    autovacuum_vacuum_insert_scale_factor: "0.1",
    autovacuum_analyze_scale_factor: "0.05",
    autovacuum_vacuum_cost_limit: "2000",
    // Nothing subscribes: one process less.
    max_logical_replication_workers: "0",
    timezone: "UTC",
    log_timezone: "UTC",
    log_checkpoints: "off",
    log_line_prefix: "%m [%p] ",
    password_encryption: "scram-sha-256",
    // A statement whose client was killed ends within seconds. Windows refuses the setting.
    ...(platform === "win32" ? {} : { client_connection_check_interval: "2s" }),
  };
}
