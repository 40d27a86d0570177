/*
 * Starts a command: takes the steps of supervisor/launch.py in a new process, and becomes the command.
 *
 * `launcher DESCRIPTION ERRORS`: numbers of two inherited descriptors. The first is a file with what supervisor/spawn.py
 * writes: numbers of 8 bytes, and texts, each as its size, its bytes and a NUL. To the second, a socket, goes the reason
 * if the command cannot be started, or the descriptor that listens for its calls of socket(2), if any; it is closed when
 * the command starts. Nothing of the environment is read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that older headers lack. They are the same on every architecture. */
#define MOUNT_SETATTR_CALL 442
#define CREATE_RULESET_CALL 444
#define ADD_RULE_CALL 445
#define RESTRICT_SELF_CALL 446
#define AT_RECURSIVE_FLAG 0x8000
#define READ_ONLY_FLAG 1
#define RULE_BENEATH 1
#define RULE_PORT 2
#define BIND_AND_CONNECT_TCP 3
#define NEW_LISTENER 8 /* of seccomp(2) */
#define NONE (-1) /* stands for an absent part of the description */

static const char files_failed[] = "the files of the machine could not be taken away from the trial";
static const char network_failed[] = "the network could not be taken away from the trial";

static int errors = 2; /* where the reason goes */

static void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Report why the command cannot be started, and end. */
static void fail(const char *format, ...)
{
    char message[2 * PATH_MAX];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (size >= (int)sizeof message)
        size = sizeof message - 1;
    (void)!write(errors, message, size > 0 ? (size_t)size : 0);
    _exit(127);
}

/* The description, and how much of it has been read. */
static const char *at;
static size_t left;

static const char *bytes(size_t size)
{
    if (size > left)
        fail("the description of the command is incomplete");
    const char *found = at;
    at += size;
    left -= size;
    return found;
}

static int64_t number(void)
{
    int64_t value;
    memcpy(&value, bytes(sizeof value), sizeof value);
    return value;
}

/* Return how many parts follow. Each has 8 bytes or more, so that a count never exceeds what is left. */
static size_t count(void)
{
    int64_t value = number();
    if (value < 0 || (uint64_t)value > left / sizeof value)
        fail("the description of the command is incomplete");
    return (size_t)value;
}

static const char *sized_text(size_t *size)
{
    int64_t value = number();
    if (value < 0 || (uint64_t)value >= left)
        fail("the description of the command is incomplete");
    *size = (size_t)value;
    const char *found = bytes(*size + 1);
    if (found[*size] != '\0')
        fail("the description of the command is damaged");
    return found;
}

static const char *text(void)
{
    size_t size;
    return sized_text(&size);
}

static void *allocated(size_t number_of, size_t size)
{
    void *memory = calloc(number_of ? number_of : 1, size);
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

static char **texts(void)
{
    size_t size = count();
    char **list = allocated(size + 1, sizeof *list);
    for (size_t index = 0; index < size; index++)
        list[index] = (char *)text();
    return list;
}

static void read_description(int file)
{
    struct stat state;
    if (fstat(file, &state) < 0 || state.st_size < 0)
        fail("the description of the command cannot be read: %s", strerror(errno));
    size_t size = (size_t)state.st_size;
    char *memory = allocated(size, 1);
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file, memory + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail("the description of the command cannot be read: %s", got < 0 ? strerror(errno) : "it is cut");
        done += (size_t)got;
    }
    at = memory;
    left = size;
}

/* Write a text to a file of /proc; return -1 on failure. */
static int put(const char *path, const char *line)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    size_t size = strlen(line);
    ssize_t done = write(file, line, size);
    int error = errno;
    close(file);
    errno = error;
    return done == (ssize_t)size ? 0 : -1;
}

static void set_limits(void)
{
    (void)put("/proc/self/oom_score_adj", "1000"); /* if memory runs out, the system ends a command, and not Tidegate */
    for (size_t rest = count(); rest > 0; rest--) {
        int kind = (int)number();
        rlim_t value = (rlim_t)number();
        struct rlimit limit;
        if (getrlimit(kind, &limit) < 0)
            fail("cannot limit the command: %s", strerror(errno));
        if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value)
            value = limit.rlim_max;
        limit.rlim_cur = limit.rlim_max = value;
        if (setrlimit(kind, &limit) < 0)
            fail("cannot limit the command: %s", strerror(errno));
    }
}

static void enter_namespaces(void)
{
    for (size_t rest = count(); rest > 0; rest--) {
        int file = (int)number();
        if (setns(file, 0) < 0)
            fail("cannot enter the namespace of the trial: %s", strerror(errno));
        close(file); /* the command does not inherit it */
    }
}

static void mounted(const char *source, const char *target, const char *kind, unsigned long flags, const char *options)
{
    if (mount(source, target, kind, flags, options) < 0)
        fail("cannot mount %s: %s", target, strerror(errno));
}

static void descriptor_path(char path[static 64], int file)
{
    snprintf(path, 64, "/proc/self/fd/%d", file);
}

/* Move to new namespaces of mounts and of shared memory, within a new user namespace if need be. */
static void leave_mounts(void)
{
    const int wanted = CLONE_NEWNS | CLONE_NEWIPC;
    unsigned int uid = geteuid(), gid = getegid();
    char line[64];
    if (unshare(wanted) == 0)
        return;
    /* In a user namespace of its own, root could not become the trial's user. */
    if (uid == 0 || unshare(CLONE_NEWUSER | wanted) < 0)
        fail("%s", strerror(errno));
    if (put("/proc/self/setgroups", "deny") < 0)
        fail("cannot map the user: %s", strerror(errno));
    snprintf(line, sizeof line, "%u %u 1", uid, uid);
    if (put("/proc/self/uid_map", line) < 0)
        fail("cannot map the user: %s", strerror(errno));
    snprintf(line, sizeof line, "%u %u 1", gid, gid);
    if (put("/proc/self/gid_map", line) < 0)
        fail("cannot map the group: %s", strerror(errno));
}

/* Return a descriptor of the path, created where it is missing, without following a link that a trial has made. */
static int place(const char *path, int is_folder)
{
    static const char *last = ""; /* the path before, */
    static int around = -1;       /* and the folder that it is in: often the same */
    static size_t size_around;
    char name[NAME_MAX + 1];
    const char *end = strrchr(path, '/');
    int is_beside = around >= 0 && end != NULL && (size_t)(end - path) == size_around && strncmp(path, last, size_around + 1) == 0;
    int here = is_beside ? around : open("/", O_PATH | O_CLOEXEC);
    around = -1;
    for (const char *rest = is_beside ? end + 1 : path + strspn(path, "/"); here >= 0 && *rest != '\0';) {
        size_t size = strcspn(rest, "/");
        if (size > NAME_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        memcpy(name, rest, size);
        name[size] = '\0';
        rest += size;
        rest += strspn(rest, "/");
        int is_file = *rest == '\0' && !is_folder;
        int inner = is_file ? openat(here, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644) : mkdirat(here, name, 0755);
        if (inner <= 0)
            inner = openat(here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_file ? 0 : O_DIRECTORY));
        if (inner < 0)
            break;
        if (*rest == '\0') {
            last = path;
            around = here; /* closed when the next one is elsewhere, or by the command's start */
            size_around = end == NULL ? 0 : (size_t)(end - path);
            return inner;
        }
        close(here);
        here = inner;
    }
    fail("cannot keep %s: %s", path, strerror(errno));
}

/* Paths that stay where folders are replaced; `file` is -1 if one does not exist. */
static struct kept {
    const char *path;
    int is_writable;
    int file;
} *kept_paths;
static size_t kept_count;

/* Return a descriptor of the path, or -1: that of a kept one, which stays open, or a new one. */
static int opened(const char *path)
{
    for (size_t index = 0; index < kept_count; index++)
        if (strcmp(kept_paths[index].path, path) == 0)
            return fcntl(kept_paths[index].file, F_DUPFD_CLOEXEC, 0);
    return open(path, O_PATH | O_CLOEXEC);
}

static void bind_kept(const struct kept *kept)
{
    const uint64_t read_only[4] = {READ_ONLY_FLAG, 0, 0, 0}; /* struct mount_attr: what to set */
    char source[64], target[64];
    struct stat state;
    if (fstat(kept->file, &state) < 0)
        fail("cannot keep %s: %s", kept->path, strerror(errno));
    int here = place(kept->path, S_ISDIR(state.st_mode));
    descriptor_path(source, kept->file);
    descriptor_path(target, here);
    if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) < 0)
        fail("cannot mount %s: %s", kept->path, strerror(errno));
    close(here);
    /* A rule for /tmp holds below the mounts in it as well: these are read-only by themselves. */
    if (!kept->is_writable
        && syscall(MOUNT_SETATTR_CALL, AT_FDCWD, kept->path, AT_RECURSIVE_FLAG, read_only, sizeof read_only) < 0)
        fail("%s: %s", files_failed, strerror(errno));
}

static void mount_own(void)
{
    char path[64];
    struct stat state;
    if (number() == NONE)
        return;
    leave_mounts();
    mounted("none", "/", NULL, MS_REC | MS_SLAVE, NULL);
    size_t size = count();
    kept_paths = allocated(size, sizeof *kept_paths);
    for (size_t index = 0; index < size; index++) {
        kept_paths[index].path = text();
        kept_paths[index].is_writable = number() != 0;
        kept_paths[index].file = open(kept_paths[index].path, O_PATH | O_CLOEXEC);
    }
    kept_count = size;
    const char *own = text();
    size_t shared = count();
    if (shared > 0) {
        int file = opened(own);
        if (file < 0)
            fail("cannot open %s: %s", own, strerror(errno));
        descriptor_path(path, file);
        for (; shared > 0; shared--)
            mounted(path, text(), NULL, MS_BIND | MS_REC, NULL);
        close(file);
    }
    for (size_t rest = count(); rest > 0; rest--) {
        const char *folder = text(), *options = text();
        if (stat(folder, &state) == 0 && S_ISDIR(state.st_mode))
            mounted("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options);
    }
    for (size_t index = 0; index < size; index++)
        if (kept_paths[index].file >= 0)
            bind_kept(&kept_paths[index]);
    for (size_t rest = count(); rest > 0; rest--) {
        const char *covered = text();
        if (stat(covered, &state) == 0 && S_ISSOCK(state.st_mode))
            mounted("/dev/null", covered, NULL, MS_BIND, NULL);
    }
    if (stat("/dev/pts", &state) == 0) /* no terminals but the trial's own */
        mounted("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
    if (geteuid() == 0) /* a container may allow mounts, and not this one */
        (void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2");
}

static int new_ruleset(const void *attribute, size_t size, const char *failed)
{
    long ruleset = syscall(CREATE_RULESET_CALL, attribute, size, 0);
    if (ruleset < 0)
        fail("%s: %s", failed, strerror(errno));
    return (int)ruleset;
}

static void restrict_self(int ruleset, const char *failed)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(RESTRICT_SELF_CALL, ruleset, 0) < 0)
        fail("%s: %s", failed, strerror(errno));
    close(ruleset);
}

static void allow_beneath(int ruleset, int file, uint64_t rights, uint64_t of_a_file)
{
    struct stat state;
    struct {
        uint64_t rights;
        int32_t file;
    } __attribute__((packed)) rule = {rights, file};
    if (fstat(file, &state) < 0)
        fail("%s: %s", files_failed, strerror(errno));
    if (!S_ISDIR(state.st_mode))
        rule.rights &= of_a_file;
    if (rule.rights != 0 && syscall(ADD_RULE_CALL, ruleset, RULE_BENEATH, &rule, 0) < 0)
        fail("%s: %s", files_failed, strerror(errno));
}

static void restrict_files(void)
{
    size_t size;
    if (number() == NONE)
        return;
    const char *attribute = sized_text(&size);
    int ruleset = new_ruleset(attribute, size, files_failed);
    uint64_t of_a_file = (uint64_t)number(), of_an_output = (uint64_t)number();
    for (size_t rest = count(); rest > 0; rest--) {
        uint64_t rights = (uint64_t)number();
        for (size_t paths = count(); paths > 0; paths--) {
            int file = opened(text());
            if (file < 0)
                continue; /* what does not exist needs no rule */
            allow_beneath(ruleset, file, rights, of_a_file);
            close(file);
        }
    }
    for (int output = 1; output <= 2; output++)
        allow_beneath(ruleset, output, of_an_output, of_a_file);
    restrict_self(ruleset, files_failed);
}

static void restrict_ports(void)
{
    const uint64_t attribute[2] = {0, BIND_AND_CONNECT_TCP};
    if (number() == NONE)
        return;
    int ruleset = new_ruleset(attribute, sizeof attribute, network_failed);
    for (size_t rest = count(); rest > 0; rest--) {
        uint64_t rights = (uint64_t)number();
        const uint64_t rule[2] = {rights, (uint64_t)number()};
        if (syscall(ADD_RULE_CALL, ruleset, RULE_PORT, rule, 0) < 0)
            fail("%s: %s", network_failed, strerror(errno));
    }
    restrict_self(ruleset, network_failed);
}

/* Send a descriptor to the supervisor. */
static void hand_over(int file)
{
    char room[CMSG_SPACE(sizeof file)] __attribute__((aligned(8))) = {0};
    struct iovec mark = {"", 1};
    struct msghdr message = {.msg_iov = &mark, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(part), &file, sizeof file);
    if (sendmsg(errors, &message, 0) < 0)
        fail("%s: %s", network_failed, strerror(errno));
    close(file);
}

static void refuse_calls(void)
{
    int is_asking = number() != 0; /* the first filter asks the supervisor */
    for (size_t rest = count(); rest > 0; rest--) {
        struct {
            unsigned short length;
            const void *steps;
        } program;
        size_t size;
        program.steps = sized_text(&size);
        program.length = (unsigned short)(size / 8);
        long listener = -1;
        if (size % 8 == 0 && size / 8 <= USHRT_MAX)
            listener = syscall(SYS_seccomp, 1, is_asking ? NEW_LISTENER : 0, &program);
        if (listener < 0)
            fail("system calls could not be taken away from the trial: %s", strerror(errno));
        if (is_asking)
            hand_over((int)listener);
        is_asking = 0;
    }
}

static void drop_capabilities(void)
{
    int64_t some = number();
    uint64_t kept = (uint64_t)number();
    if (some == NONE)
        return;
    for (int capability = 0; capability < 64; capability++)
        if (!(kept >> capability & 1) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
            break; /* past the last one that this kernel knows */
}

static void become_user(void)
{
    int64_t uid = number(), gid = number();
    if (uid == NONE || gid == NONE)
        return;
    if (setgroups(0, NULL) < 0 || setresgid((gid_t)gid, (gid_t)gid, (gid_t)gid) < 0
        || setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) < 0)
        fail("cannot become the user of the trial: %s", strerror(errno));
}

static void execute(void)
{
    const char *program = text();
    char **arguments = texts(), **environment = texts();
    struct stat state;
    sigset_t none;
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        (void)signal(signal_number, SIG_DFL); /* those that cannot be set are refused */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(program, arguments, environment);
    int error = errno;
    if (error == ENOENT && stat(program, &state) == 0)
        fail("cannot execute %s: the interpreter that its first line names is missing", program);
    fail("cannot execute %s: %s", program, strerror(error));
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3)
        fail("launcher DESCRIPTION ERRORS");
    errors = atoi(arguments[2]);
    if (fcntl(errors, F_SETFD, FD_CLOEXEC) < 0)
        return 127;
    int description = atoi(arguments[1]);
    read_description(description);
    close(description);
    setsid();
    set_limits();
    enter_namespaces();
    mount_own();
    restrict_files();
    restrict_ports();
    refuse_calls();
    drop_capabilities();
    become_user();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        fail("the command would outlive its supervisor: %s", strerror(errno));
    const char *folder = text();
    if (chdir(folder) < 0)
        fail("cannot enter the folder %s: %s", folder, strerror(errno));
    execute();
}
