/* Notes every look-up of a name and every address beyond this machine that a process and its children reach for.

   Loaded before all other libraries (LD_PRELOAD), so that native code is seen as well as Python. One line each, in the
   file that AUSCULT_WATCH names: process id, program, call, and name or address. It follows children whose environment
   was emptied. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOG "AUSCULT_WATCH"
#define PRELOAD "LD_PRELOAD"

static char log_entry[4096], preload_entry[4096];

__attribute__((constructor)) static void keep_environment(void) {
    const char *log = getenv(LOG), *preload = getenv(PRELOAD);
    if (log) snprintf(log_entry, sizeof log_entry, LOG "=%s", log);
    if (preload) snprintf(preload_entry, sizeof preload_entry, PRELOAD "=%s", preload);
}

static void note(const char *call, const char *what) {
    int saved = errno;
    char line[1024];
    if (!log_entry[0]) return;
    int size = snprintf(line, sizeof line, "%d\t%s\t%s\t%s\n", getpid(), program_invocation_short_name, call, what);
    int file = open(log_entry + sizeof LOG, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) {
        if (write(file, line, size < (int)sizeof line ? size : (int)sizeof line - 1) < 0) { /* nowhere to say so */ }
        close(file);
    }
    errno = saved;
}

static int is_loopback(const struct in6_addr *address) {
    return IN6_IS_ADDR_LOOPBACK(address) || IN6_IS_ADDR_UNSPECIFIED(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static void note_address(const char *call, const struct sockaddr *address) {
    char host[INET6_ADDRSTRLEN] = "", what[128];
    int port, local;
    if (!address) return;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;
        unsigned number = ntohl(in->sin_addr.s_addr);
        local = number >> 24 == 127 || number == 0;
        port = ntohs(in->sin_port);
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)address;
        local = is_loopback(&in->sin6_addr);
        port = ntohs(in->sin6_port);
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
    } else {
        return;
    }
    /* Port 53 is a name server, which many machines run on an address of their own. */
    if (local && port != 53) return;
    snprintf(what, sizeof what, "%s port %d", host, port);
    note(call, what);
}

static void note_name(const char *call, const char *name) {
    struct in_addr four;
    struct in6_addr six;
    if (!name || !*name || !strcmp(name, "localhost")) return;
    if (inet_pton(AF_INET, name, &four) == 1 && (ntohl(four.s_addr) >> 24 == 127 || four.s_addr == 0)) return;
    if (inet_pton(AF_INET6, name, &six) == 1 && is_loopback(&six)) return;
    note(call, name);
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
    note_address("connect", address);
    return REAL(connect)(socket, address, size);
}

ssize_t sendto(int socket, const void *content, size_t length, int flags, const struct sockaddr *address,
               socklen_t size) {
    note_address("sendto", address);
    return REAL(sendto)(socket, content, length, flags, address, size);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    if (message) note_address("sendmsg", message->msg_name);
    return REAL(sendmsg)(socket, message, flags);
}

int sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags) {
    for (unsigned n = 0; messages && n < count; n++) note_address("sendmmsg", messages[n].msg_hdr.msg_name);
    return REAL(sendmmsg)(socket, messages, count, flags);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    note_name("getaddrinfo", name);
    return REAL(getaddrinfo)(name, service, hints, found);
}

struct hostent *gethostbyname(const char *name) {
    note_name("gethostbyname", name);
    return REAL(gethostbyname)(name);
}

struct hostent *gethostbyname2(const char *name, int family) {
    note_name("gethostbyname2", name);
    return REAL(gethostbyname2)(name, family);
}

int gethostbyname_r(const char *name, struct hostent *entry, char *buffer, size_t size, struct hostent **found,
                    int *error) {
    note_name("gethostbyname_r", name);
    return REAL(gethostbyname_r)(name, entry, buffer, size, found, error);
}

int gethostbyname2_r(const char *name, int family, struct hostent *entry, char *buffer, size_t size,
                     struct hostent **found, int *error) {
    note_name("gethostbyname2_r", name);
    return REAL(gethostbyname2_r)(name, family, entry, buffer, size, found, error);
}

int res_query(const char *name, int class, int type, unsigned char *answer, int size) {
    note_name("res_query", name);
    return REAL(res_query)(name, class, type, answer, size);
}

int res_search(const char *name, int class, int type, unsigned char *answer, int size) {
    note_name("res_search", name);
    return REAL(res_search)(name, class, type, answer, size);
}

/* A program that is started with an environment of its own is watched, too. */
#define WITH_WATCH(given, made)                                                                  \
    size_t count_ = 0, kept_ = 0;                                                                \
    while ((given) && (given)[count_]) count_++;                                                 \
    char *made[count_ + 3];                                                                      \
    for (size_t n_ = 0; n_ < count_; n_++)                                                       \
        if (strncmp((given)[n_], LOG "=", sizeof LOG) && strncmp((given)[n_], PRELOAD "=", sizeof PRELOAD)) \
            made[kept_++] = (given)[n_];                                                         \
    if (log_entry[0]) made[kept_++] = log_entry;                                                 \
    if (preload_entry[0]) made[kept_++] = preload_entry;                                         \
    made[kept_] = NULL

int execve(const char *path, char *const arguments[], char *const environment[]) {
    WITH_WATCH(environment, watched);
    return REAL(execve)(path, arguments, watched);
}

int execvpe(const char *file, char *const arguments[], char *const environment[]) {
    WITH_WATCH(environment, watched);
    return REAL(execvpe)(file, arguments, watched);
}

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    WITH_WATCH(environment, watched);
    return REAL(posix_spawn)(child, path, actions, attributes, arguments, watched);
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    WITH_WATCH(environment, watched);
    return REAL(posix_spawnp)(child, file, actions, attributes, arguments, watched);
}
